/// Which agent this is.
public enum AgentVersion {
    /// Semantic version.
    public static let current = "0.1.0"
    /// The commit the build was made from. `unknown` in a checkout: SwiftPM tells a build none, so whoever makes a
    /// package writes it here first.
    public static let commit = "unknown"
    /// The language version it was compiled with.
    public static var swift: String {
        #if compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }
    /// `User-Agent` and `X-Client-Version` of every request.
    package static let userAgent = "Starwatch/\(current)"
}

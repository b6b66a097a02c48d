/// Version of the agent.
public enum AgentVersion {
    /// Semantic version.
    public static let current = "0.1.0"
    /// The commit of the build. `unknown` in a checkout: SwiftPM does not pass it to a build, so packagers write it
    /// here first.
    public static let commit = "unknown"
    /// The language version of the compiler.
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

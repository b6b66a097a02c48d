/// Version of the agent.
public enum AgentVersion {
    /// Semantic version.
    public static let current = "1.0.0"
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
    /// `User-Agent` and `X-Client-Version` of requests, unless the configuration has others.
    package static let userAgent = "Starwatch/\(current)"
}

/// The names under which requests go to a server.
package struct ClientNames: Sendable {
    package let userAgent: String
    /// The value of `X-Client-Version`.
    package let clientVersion: String

    /// The names of a host program's own manager: its name comes first, without characters that no product has (RFC 9110).
    package init(host: String) {
        let name = host.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~/".contains($0)) }
        let product = name.isEmpty ? "" : name.prefix(100) + " "
        self.init(userAgent: product + AgentVersion.userAgent)
    }

    /// `nil` stands for ``AgentVersion/userAgent``.
    package init(userAgent: String? = nil, clientVersion: String? = nil) {
        self.userAgent = userAgent ?? AgentVersion.userAgent
        self.clientVersion = clientVersion ?? AgentVersion.userAgent
    }
}

import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// The versions of this program and of the libraries that it uses.
package struct VersionReport: Sendable, Encodable, Hashable {
    package var version = AgentVersion.current
    package var commit = AgentVersion.commit
    package var platform = Self.platform
    /// The version of the database.
    package var schema = HostDatabase.versions.upperBound
    /// The version of the alert rules that this program is made for.
    package var rules: Int
    package var swift = AgentVersion.swift
    package var sqlite = SQLiteVersion.current ?? "unknown"
    package var libcurl = CurlVersion.current ?? "unknown"

    package init(rules: Int) { self.rules = rules }

    private static var platform: String {
        #if arch(x86_64)
        "linux x86_64"
        #elseif arch(arm64)
        "linux arm64"
        #else
        "linux"
        #endif
    }
}

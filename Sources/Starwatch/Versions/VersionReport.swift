import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// The versions of this program and of the libraries that it uses.
package struct VersionReport: Sendable, Encodable, Hashable {
    package var version = AgentVersion.current
    package var commit = AgentVersion.commit
    package var platform = Self.platform
    package var schema = HostDatabase.versions.upperBound
    /// The version of the alert rules that this program is made for.
    package var rules: Int
    package var swift = AgentVersion.swift
    package var sqlite = SQLiteVersion.current ?? "unknown"
    package var libcurl = CurlVersion.current ?? "unknown"

    /// The parts of the program; `nil` unless asked for.
    package var parts: Parts?

    package init(rules: Int, withParts: Bool = false) {
        self.rules = rules
        if withParts { parts = Parts(packages: PackageVersions.current) }
    }

    /// The Swift packages and C libraries in the program.
    package struct Parts: Sendable, Encodable, Hashable {
        /// The Swift packages; empty if the program does not know them.
        package let packages: [PartVersion]
        /// Why `packages` is empty.
        package let packagesUnknown: String?
        package let libraries: [PartVersion]

        init(packages: [PartVersion]?) {
            self.packages = packages ?? []
            packagesUnknown = packages == nil ? "unknown: built from source; see Package.resolved" : nil
            libraries =
                CurlVersion.libraries.map { PartVersion($0.name, $0.version) }
                + [PartVersion("SQLite", SQLiteVersion.current ?? "unknown")]
                // These have no function that tells.
                + ["libcrypt", "libsecp256k1"].map {
                    PartVersion($0, "unknown: the library does not tell; see the SBOM, or ask the package manager")
                }
        }
    }

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

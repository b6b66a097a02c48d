import Glibc

/// How a client connects; the same for all of its requests.
package struct HTTPClientOptions: Sendable {
    /// A PEM file of further trust anchors. With it libcurl parses all anchors for every new connection (about 20 ms
    /// of CPU), because it caches only those of a file.
    package var caFile: String?
    /// `sha256//…`, several separated by `;`, as libcurl takes them; `nil` for no pinning.
    package var pinnedPublicKey: String?
    /// The most requests at once; others wait their turn. As each has at most one name lookup under way, this also
    /// caps lookups. One that hangs past its request's limit keeps its resolver thread until it returns.
    package var maxInFlight = 256

    package init(caFile: String? = nil, pinnedPublicKey: String? = nil, maxInFlight: Int = 256) {
        self.caFile = caFile
        self.pinnedPublicKey = pinnedPublicKey
        self.maxInFlight = maxInFlight
    }

    /// The bundle to trust: the first there is of those that distributions are known to install.
    var bundle: String? {
        [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { access($0, R_OK) == 0 }
    }
}

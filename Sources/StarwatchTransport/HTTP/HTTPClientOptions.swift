import Glibc

/// How a client connects; the same for all of its requests.
package struct HTTPClientOptions: Sendable {
    /// A PEM file of further trust anchors. With it libcurl parses all anchors for every new connection (about 20 ms
    /// of CPU), because it caches only those of a file.
    package var caFile: String?
    /// `sha256//…`, several separated by `;`, as libcurl takes them; `nil` for no pinning.
    package var pinnedPublicKey: String?
    /// The most requests at once; others wait their turn.
    package var maxInFlight = 256
    /// The most name lookups of this process at once, those included that hang although their request has ended. One
    /// more fails at once as ``HTTPError/dns``.
    package var maxLookups = 16
    /// The longest wait for a connection, name lookup and TLS handshake included; a request's own limit may be shorter.
    /// A connection that nobody answers is found out by this, and tried again as a failure of the network.
    package var connectTimeout = Duration.seconds(10)

    /// Whether a connection is kept for later requests. On a kept one that the server closes meanwhile, a request fails
    /// or is sent twice.
    package var keepsConnections = true
    /// The Unix socket to connect to, whatever host a URL names; `nil` for TCP.
    package var socketPath: String?

    package init(
        caFile: String? = nil,
        pinnedPublicKey: String? = nil,
        socketPath: String? = nil,
        maxInFlight: Int = 256
    ) {
        self.caFile = caFile
        self.socketPath = socketPath
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

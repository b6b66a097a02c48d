import Glibc

/// Connection settings, common to all requests of a client.
package struct HTTPClientOptions: Sendable {
    /// A PEM file of additional trust anchors; `nil` for none. With it libcurl parses all anchors for every new
    /// connection (about 20 ms of CPU), because it only caches anchors from a single file.
    package var caFile: String?
    /// The setting that names ``caFile``, for errors.
    package var caSetting = "server.ca_file"
    /// Pinned keys in libcurl's syntax: `sha256//…`, several separated by `;`. `nil` disables pinning.
    package var pinnedPublicKey: String?
    /// The proxy of every request, `http://host:port` or of scheme `https` or `socks5h`; ``environmentProxy`` for that of the
    /// process's environment. `nil`, the default: none, whatever the environment says.
    package var proxy: String?
    /// `HTTPS_PROXY` and `NO_PROXY` of the environment decide.
    package static let environmentProxy = "environment"
    /// Limit of concurrent requests. Further requests wait.
    package var maxInFlight = 256
    /// The number of requests of one of libcurl's handles. Others use further handles, with connections of their own; see
    /// ``CurlShard``.
    package var requestsPerHandle = 32
    /// Limit of concurrent name lookups in this process, including hanging lookups whose request has ended. A request
    /// beyond the limit fails immediately with ``HTTPError/dns``.
    package var maxLookups = 16
    /// Limit for connecting, including name lookup and TLS handshake; a request's own timeout can be shorter. It
    /// classifies a server that does not accept connections as a network failure.
    package var connectTimeout = Duration.seconds(10)

    /// Whether a connection is kept for later requests. On a kept one that the server closes meanwhile, a request fails
    /// or is sent twice.
    package var keepsConnections = true
    /// The Unix socket to connect to, whatever host a URL names; `nil` for TCP.
    package var socketPath: String?
    /// Accepts the user of the process that listens on the Unix socket, before a request is sent; its argument is `nil`
    /// if the system does not tell the user. For connections that are not kept. `nil` accepts every process.
    package var acceptsPeer: (@Sendable (UInt32?) -> Bool)?

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

    /// The system's CA bundle: the first readable of the paths that distributions use; `nil` when there is none.
    var bundle: String? {
        [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { access($0, R_OK) == 0 }
    }
}

/// The control API, used by the command line.
public struct ControlOptions: Sendable, Hashable {
    /// The Unix socket, created with mode 0600. By default `./starwatch.sock`. Its path has at most 107 bytes, its
    /// directory 95.
    public var socket = "./starwatch.sock"
    /// `host:port` of the control API on TCP. `nil`, the default, or neither ``tokenFile`` nor ``webConfigFile``: no TCP.
    public var listen: String?
    /// A file of mode 0600 with the bearer token of TCP requests, of at least 16 bytes.
    public var tokenFile: String?
    /// A file of mode 0600 with the token in the private address of the feed, of at least 16 bytes, for feed readers that
    /// cannot log in. `nil`, the default, or no ``listen``: there is no such address.
    public var feedTokenFile: String?
    /// A file with the TLS, the users and the headers of ``listen``, as ``HTTPOptions/webConfigFile``. It has users if
    /// and only if there is no ``tokenFile``.
    public var webConfigFile: String?

    public init() {}
}

/// A port of the agent that a web configuration can protect.
package enum ServedPort: String, Sendable, CaseIterable {
    /// `http.listen`.
    case http
    /// `control.listen`.
    case control
}

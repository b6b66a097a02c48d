import StarwatchCore

/// The hosts that requests can name. The owner of any other name decides where it points, so a page of a browser could
/// reach the server by it (DNS rebinding).
struct HostPolicy: Sendable {
    private let names: Set<String>

    /// - Parameters:
    ///   - own: The host that the server listens on; `nil` for a Unix socket.
    ///   - allowed: The names of `http.allowed_hosts`.
    init(own: String?, allowed: [String]) {
        names = Set((allowed + [own ?? "localhost", "localhost"]).map(Self.normal))
    }

    /// The policy of the read-only server; `nil` for any host.
    ///
    /// Scrapers reach a server of the network by names that only the operator knows, so it checks names only if they are
    /// configured. On loopback a name can only come from this machine.
    static func readOnly(_ listen: ListenAddress, allowed: [String]) -> HostPolicy? {
        listen.isLoopback || !allowed.isEmpty ? HostPolicy(own: listen.host, allowed: allowed) : nil
    }

    /// Returns whether `host` is an address, `localhost`, the server's own host or an allowed one.
    func allows(_ host: String) -> Bool {
        if host.hasPrefix("[") { return host.wholeMatch(of: /\[[0-9A-Fa-f:.]+\](:\d+)?/) != nil }
        let name = Self.normal(String(host.split(separator: ":", omittingEmptySubsequences: false).first ?? ""))
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } || names.contains(name)
    }

    /// The name in lower case, without the dot of the root.
    private static func normal(_ name: String) -> String {
        (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
    }
}

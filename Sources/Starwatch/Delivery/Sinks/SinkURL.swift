import Foundation
import StarwatchCore

/// Rules of the URLs of sinks.
enum SinkURL {
    /// Whether requests can go to an address: over TLS or to this machine, without credentials in it.
    static func isGood(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.port.map((1...65_535).contains) ?? true
        else { return false }
        let scheme = parts.scheme?.lowercased()
        return scheme == "https" || scheme == "http" && ListenAddress.isLoopback(host)
    }

    /// The scheme, host and port of a URL.
    static func host(of url: String) -> String {
        guard let parts = URLComponents(string: url) else { return "" }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(parts.scheme?.lowercased() ?? "")://\(parts.host?.lowercased() ?? "")\(port)"
    }
}

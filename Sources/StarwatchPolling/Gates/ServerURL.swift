import Foundation

/// The parts of `server.url` that the agent needs.
package struct ServerURL: Sendable, Hashable {
    /// Scheme, host and port, lower case: what streams belong to.
    package let origin: String
    /// As configured, without slashes at its end.
    package let base: String

    /// `nil` unless `text` is an `http` or `https` URL with a host and without credentials, query and fragment.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), let origin = Self.origin(of: parts),
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        self.origin = origin
        var base = text
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
    }

    /// The origin of any `http` or `https` URL; `nil` for what is none.
    package static func origin(of text: String) -> String? { URLComponents(string: text).flatMap(origin) }

    /// To compare with others; what is stored keeps the port as it was written.
    package static func withoutDefaultPort(_ origin: String) -> String {
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            return String(origin.dropLast(port.count))
        }
        return origin
    }

    private static func origin(of parts: URLComponents) -> String? {
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        let port = parts.port.map { ":\($0)" } ?? ""
        let isBare = host.contains(":") && !host.hasPrefix("[")
        return "\(scheme)://\(isBare ? "[\(host)]" : host)\(port)"
    }
}

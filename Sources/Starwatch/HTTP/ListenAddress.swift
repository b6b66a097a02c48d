/// Where a server listens: `host:port`, `[v6]:port`, or `:port` for every IPv4 address.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// Without brackets.
    package var host: String
    /// 0 takes a free one.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package init(parsing text: String) throws(HTTPServerError) {
        guard let colon = text.lastIndex(of: ":"),
            case let digits = text[text.index(after: colon)...], digits.utf8.allSatisfy({ (48...57).contains($0) }),
            let port = UInt16(digits)
        else { throw .badAddress(text) }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { throw .badAddress(text) }
        } else if host.contains(where: { ":[]/ ".contains($0) }) {
            throw .badAddress(text)
        }
        self.host = host.isEmpty ? "0.0.0.0" : String(host)
        self.port = Int(port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

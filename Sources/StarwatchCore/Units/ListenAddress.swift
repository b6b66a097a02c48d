/// An address to listen on: `host:port`, `[v6]:port`, or `:port` for every IPv4 address.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The host without brackets.
    package var host: String
    /// The port; 0 takes a free one.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` if `text` is not `host:port`.
    package init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":"),
            case let digits = text[text.index(after: colon)...], digits.utf8.allSatisfy(\.isDigit),
            let port = UInt16(digits)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(where: { ":[]/ ".contains($0) }) {
            return nil
        }
        self.host = host.isEmpty ? "0.0.0.0" : String(host)
        self.port = Int(port)
    }

    /// Whether it accepts connections on every address of the machine.
    package var isEveryAddress: Bool { ["0.0.0.0", "::", "0:0:0:0:0:0:0:0"].contains(host) }

    /// Whether only this machine can connect.
    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Recognises 127.0.0.0/8, ::1 and localhost. Other names are not resolved, because their address can change.
    package static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(name) { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

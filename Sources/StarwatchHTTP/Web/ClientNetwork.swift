import Glibc
import NIOCore

/// The addresses that count as one client of a port: an IPv4 address, an IPv6 network of 64 bits, or this machine.
struct ClientNetwork: Hashable, CustomStringConvertible {
    private let network: [UInt8]

    /// Creates the network of an address. A client has all addresses of 127.0.0.0/8, and all of its IPv6 network.
    init(_ address: SocketAddress?) {
        // The address of a link has its interface at the end.
        let text = String(address?.ipAddress?.prefix { $0 != "%" } ?? "")
        var bytes = [UInt8](repeating: 0, count: 16)
        let found: [UInt8]
        if inet_pton(AF_INET6, text, &bytes) == 1 {
            let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
            let isLoopback = bytes == [UInt8](repeating: 0, count: 15) + [1]
            found = isLoopback ? [127] : isMapped ? Array(bytes.suffix(4)) : Array(bytes.prefix(8))
        } else {
            found = inet_pton(AF_INET, text, &bytes) == 1 ? Array(bytes.prefix(4)) : []
        }
        network = found.count == 4 && found[0] == 127 ? [127] : found
    }

    /// The address, or the network with its length.
    var description: String {
        switch network.count {
        case 1: "127.0.0.0/8"
        case 4: network.map(String.init).joined(separator: ".")
        case 8: text(ofVersion6: network + [UInt8](repeating: 0, count: 8)) + "/64"
        default: "unknown"
        }
    }

    private func text(ofVersion6 bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "unknown" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

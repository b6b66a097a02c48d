import Foundation

/// A port of 127.0.0.1 that nobody listens on.
///
/// It lies below the range from which the kernel takes the ports of connections and of servers that ask for any, so that no
/// other test has it, now or later. No port is taken twice, because whoever took it can listen much later.
package enum FreePort {
    /// - Parameter isOfDatagrams: Whether UDP is meant, and not TCP.
    package static func take(ofDatagrams isOfDatagrams: Bool = false) throws -> Int {
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            if isFree(port, isOfDatagrams ? SOCK_DGRAM : SOCK_STREAM), claims(Int(port)) { return Int(port) }
        }
        throw POSIXError(.EADDRINUSE)
    }

    /// Reserves a port for this process, among all that run tests.
    ///
    /// - Returns: `false` if it was taken before. The kernel frees the name when the process ends.
    package static func claims(_ port: Int) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A name that begins with a zero byte is no file.
        withUnsafeMutableBytes(of: &address.sun_path) {
            UnsafeMutableRawBufferPointer(rebasing: $0.dropFirst()).copyBytes(from: "starwatch-tests-\(port)".utf8)
        }
        if bound(descriptor, &address) { return true }
        close(descriptor)
        return false
    }

    private static func isFree(_ port: UInt16, _ type: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return bound(descriptor, &address)
    }

    private static func bound<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
    }
}

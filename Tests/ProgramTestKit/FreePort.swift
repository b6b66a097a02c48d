import Foundation
import Synchronization

/// A port of 127.0.0.1 that nobody listens on.
///
/// It lies below the range from which the kernel takes the ports of connections and of servers that ask for any, so that no
/// other test has it, now or later. No port is taken twice, because whoever took it can listen much later. Several processes
/// run tests at once, and each takes its ports from a range of its own.
package enum FreePort {
    private static let taken = Mutex<Set<UInt16>>([])

    /// The first range whose name no other process has. The kernel frees the name when the process ends.
    private static let range: Range<UInt16>? = {
        for start in stride(from: 20_000 as UInt16, to: 32_000, by: 600) {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            // A name that begins with a zero byte is no file.
            withUnsafeMutableBytes(of: &address.sun_path) {
                UnsafeMutableRawBufferPointer(rebasing: $0.dropFirst()).copyBytes(from: "starwatch-tests-\(start)".utf8)
            }
            if bound(descriptor, &address) { return start..<start + 600 }
            close(descriptor)
        }
        return nil
    }()

    /// - Parameter isOfDatagrams: Whether UDP is meant, and not TCP.
    package static func take(ofDatagrams isOfDatagrams: Bool = false) throws -> Int {
        for port in (range ?? 0..<0).shuffled() {
            if isFree(port, isOfDatagrams ? SOCK_DGRAM : SOCK_STREAM), taken.withLock({ $0.insert(port).inserted }) {
                return Int(port)
            }
        }
        throw POSIXError(.EADDRINUSE)
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

import Foundation
import Synchronization

/// A port that nobody listens on at this moment.
///
/// It lies below the range from which the kernel takes the ports of connections, so that no connection of another test has it
/// before the agent listens. No port is taken twice, because whoever took it can listen much later.
enum FreePort {
    private static let taken = Mutex<Set<UInt16>>([])

    /// - Parameter type: The kind of socket that will listen; by default TCP's.
    static func take(_ type: __socket_type = SOCK_STREAM) throws -> Int {
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            if isFree(port, type), taken.withLock({ $0.insert(port).inserted }) { return Int(port) }
        }
        throw AcceptanceError("no free port")
    }

    private static func isFree(_ port: UInt16, _ type: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

import Foundation

/// A port that nobody listens on at this moment.
enum FreePort {
    /// - Parameter type: The kind of socket that will listen; by default TCP's.
    static func take(_ type: __socket_type = SOCK_STREAM) throws -> Int {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> UInt16 in
                guard bind(descriptor, pointer, length) == 0, getsockname(descriptor, pointer, &length) == 0 else {
                    return 0
                }
                return UnsafeRawPointer(pointer).load(as: sockaddr_in.self).sin_port.bigEndian
            }
        }
        guard port != 0 else { throw AcceptanceError("no free port") }
        return Int(port)
    }
}

import Glibc

/// Reserves a port of 127.0.0.1 without listening on it, so that connections are refused.
///
/// The system can assign a free port to the local end of any outgoing connection.
final class PortReservation: Sendable {
    private let descriptor: Int32

    /// Reserves a port; `nil` when it is already in use.
    init?(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // Permits the server to bind the same port.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // All properties are initialised, so deinit closes the descriptor.
        guard bound == 0 else { return nil }
    }

    deinit { close(descriptor) }
}

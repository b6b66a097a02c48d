import Glibc

/// The datagram socket of a service manager.
struct NotifySocket: Sendable {
    private let address: [UInt8]

    /// - Parameter name: A path, or an abstract name after `@`.
    init?(name: String) {
        guard let first = name.utf8.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else { return nil }
        var address = Array(name.utf8)
        // An abstract name begins with a zero byte and has an explicit length; a path ends with a zero byte.
        if first == UInt8(ascii: "@") { address[0] = 0 } else { address.append(0) }
        guard address.count > 2, address.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        self.address = address
    }

    /// Sends one message. Failures are ignored, because there is nobody else to notify.
    func send(_ message: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A manager that does not read must not block the agent.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + address.count
        let bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}

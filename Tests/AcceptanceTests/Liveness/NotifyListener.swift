import Foundation
import Synchronization

/// A service manager's side of `$NOTIFY_SOCKET`: a datagram socket, and what came to it.
final class NotifyListener: Sendable {
    /// For `$NOTIFY_SOCKET`.
    let name: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter name: A path, or an abstract name after `@`.
    init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(O_NONBLOCK), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard bound == 0 else { throw AcceptanceError("the socket cannot be bound: \(errno)") }
    }

    deinit { close(descriptor) }

    /// All messages so far, in order.
    var messages: [String] {
        received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return received }
                received.append(String(decoding: buffer[..<count], as: UTF8.self))
            }
        }
    }

    /// The messages that have this line, once there are `count` of them.
    func messages(with line: String, atLeast count: Int) async throws -> [String] {
        let found = await eventually { () -> [String]? in
            let matching = self.matching(line)
            return matching.count >= count ? matching : nil
        }
        guard let found else { throw AcceptanceError("\(line) did not come: \(messages)") }
        return found
    }

    /// The messages so far that have this line.
    func matching(_ line: String) -> [String] {
        messages.filter { $0.split(separator: "\n").contains { $0 == line } }
    }
}

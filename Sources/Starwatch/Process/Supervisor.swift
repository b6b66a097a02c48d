import Glibc
import Synchronization

/// The service manager that started this process, notified as `sd_notify(3)` describes. It learns that the agent is
/// ready, reloads or stops, its status, and, on request, that it makes progress.
///
/// Without a manager, it does nothing.
public final class Supervisor: Sendable {
    /// The interval of progress messages: half of the manager's timeout. `nil` if the manager has no timeout.
    let progressInterval: Duration?
    private let socket: NotifySocket?
    private let lastStatus = Mutex("")

    /// - Parameter environment: The variables `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    public init(environment: [String: String]) {
        socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init(name:))
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let wait = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        progressInterval = socket != nil && isMeant && wait > 0 ? .microseconds(wait) / 2 : nil
    }

    /// Whether the manager ends an agent that makes no progress.
    package var hasWatchdog: Bool { progressInterval != nil }

    /// Whether there is a manager.
    var isThere: Bool { socket != nil }

    /// No manager.
    public static let none = Supervisor(environment: [:])

    /// Reports that the agent is ready, also after a reload.
    func ready(_ status: String) { send("READY=1", status: status) }

    /// Reports the start of a reload.
    ///
    /// - Parameter now: The time of `CLOCK_MONOTONIC`.
    func reloading(at now: Duration) {
        let (seconds, attoseconds) = now.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", status: "Reloading.")
    }

    /// Reports that the agent delivers the work in flight and then ends.
    func stopping() { send("STOPPING=1", status: "Draining.") }

    /// Reports progress of local work.
    func progress() { if progressInterval != nil { socket?.send("WATCHDOG=1") } }

    /// Reports the status as a sentence without personal data, if it changed.
    func say(_ status: String) {
        let isNew = lastStatus.withLock { last in
            defer { last = status }
            return last != status
        }
        if isNew { socket?.send("STATUS=\(status)") }
    }

    private func send(_ message: String, status: String) {
        lastStatus.withLock { $0 = status }
        socket?.send("\(message)\nSTATUS=\(status)")
    }
}

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

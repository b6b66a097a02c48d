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
    func progress() {
        if progressInterval != nil { socket?.send("WATCHDOG=1") }
    }

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

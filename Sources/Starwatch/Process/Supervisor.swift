import Glibc
import Synchronization

/// The service manager that started this process, told as `sd_notify(3)` describes: that the agent is ready, reloads,
/// stops, how it is, and, where the manager wants to hear it, that it makes progress.
///
/// Without a manager it does nothing.
public final class Supervisor: Sendable {
    /// How often to say that there is progress: half of what the manager waits. `nil`: it does not wait for that.
    let progressInterval: Duration?
    private let socket: NotifySocket?
    private let lastStatus = Mutex("")

    /// - Parameter environment: Where `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are.
    public init(environment: [String: String]) {
        socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init(name:))
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let wait = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        progressInterval = socket != nil && isMeant && wait > 0 ? .microseconds(wait) / 2 : nil
    }

    /// No manager.
    public static let none = Supervisor(environment: [:])

    /// The agent does its work; after a reload, again.
    func ready(_ status: String) { send("READY=1", status: status) }

    /// The configuration is being read again.
    ///
    /// - Parameter now: `CLOCK_MONOTONIC`.
    func reloading(at now: Duration) {
        let (seconds, attoseconds) = now.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", status: "Reloading.")
    }

    /// The agent delivers what is under way, then ends.
    func stopping() { send("STOPPING=1", status: "Draining.") }

    /// Local work progresses.
    func progress() {
        if progressInterval != nil { socket?.send("WATCHDOG=1") }
    }

    /// How the agent is, in a sentence without personal data. Sent when it changes.
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

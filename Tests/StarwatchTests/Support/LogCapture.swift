import Foundation
import StarwatchTelemetry
import Synchronization

/// Keeps every line of an agent's log, and lets a test wait for an event.
final class LogCapture: LogSink {
    private struct State {
        var lines: [[UInt8]] = []
        var watchers: [(event: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var lines: [String] { state.withLock(\.lines).map { String(decoding: $0, as: UTF8.self) } }

    func take(_ entry: LogEntry, line: [UInt8]) {
        let ready = state.withLock { state in
            state.lines.append(line)
            let ready = state.watchers.filter { Self.isEvent($0.event, line) }
            state.watchers.removeAll { Self.isEvent($0.event, line) }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    /// Waits until an event is logged.
    func wait(for event: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.lines.contains(where: { Self.isEvent(event, $0) }) { return true }
                state.watchers.append((event, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private static func isEvent(_ event: String, _ line: [UInt8]) -> Bool {
        String(decoding: line, as: UTF8.self).contains("\"event\":\"\(event)\"")
    }
}

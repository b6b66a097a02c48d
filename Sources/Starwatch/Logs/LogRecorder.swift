import StarwatchCore
package import StarwatchStore
package import StarwatchTelemetry
import Synchronization

/// Holds finished log lines until they are stored: the last 1,000, and errors for 90 days.
package final class LogRecorder: StarwatchTelemetry.LogSink {
    /// The most lines held between two flushes; of more, the oldest are dropped.
    static let capacity = 1000

    private let held = Mutex<[StarwatchStore.LogEntry]>([])

    package init() {}

    package func take(_ record: LogRecord) {
        let line = String(decoding: record.line.dropLast(), as: UTF8.self)
        let entry = StarwatchStore.LogEntry(
            at: Timestamp(milliseconds: record.timestampMilliseconds),
            isError: record.severity.isError,
            line: line
        )
        held.withLock { held in
            if held.count == Self.capacity { held.removeFirst() }
            held.append(entry)
        }
    }

    /// Stores what is held. What cannot be stored is dropped: the log went to standard error already.
    package func flush(to store: Store) async {
        let entries = held.withLock { held in
            defer { held = [] }
            return held
        }
        guard !entries.isEmpty else { return }
        try? await store.appendLogs(entries)
    }
}

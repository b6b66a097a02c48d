import StarwatchCore
import StarwatchPolling
package import StarwatchStore
package import StarwatchTelemetry
import Synchronization

/// Buffer of finished log lines. The store keeps the last 1,000 lines, and warnings and errors for 90 days.
package final class LogRecorder: StarwatchTelemetry.LogSink {
    /// Maximum number of lines between two flushes. Beyond it, the oldest are dropped.
    static let capacity = 1000

    private let held = Mutex<[StarwatchStore.LogEntry]>([])
    /// Wakes the housekeeping, which stores the lines. Raised by the first line after a flush.
    let housekeeping = Signal()

    /// Whether lines wait to be stored.
    var holdsLines: Bool { held.withLock { !$0.isEmpty } }

    package func take(_ entry: StarwatchTelemetry.LogEntry, line: [UInt8]) {
        let entry = StarwatchStore.LogEntry(
            at: Timestamp(milliseconds: entry.timestampMilliseconds),
            level: LogLevel(entry.severity),
            runID: entry.runID,
            line: String(decoding: line.dropLast(), as: UTF8.self)
        )
        let isFirst = held.withLock { held in
            if held.count == Self.capacity { held.removeFirst() }
            held.append(entry)
            return held.count == 1
        }
        if isFirst { housekeeping.raise() }
    }

    /// Stores the buffered lines. Lines that cannot be stored are dropped: standard error already has them.
    package func flush(to store: Store) async {
        let entries = held.withLock { held in
            defer { held = [] }
            return held
        }
        guard !entries.isEmpty else { return }
        try? await store.logs.append(entries)
    }

    /// Lists the log in the database.
    func lines(_ query: LogQuery, of store: Store) async throws -> LogListing {
        try ControlError.check(limit: query.limit, upTo: LogQuery.listLimit)
        var filter = LogFilter()
        filter.limit = query.limit
        filter.after = query.after
        filter.runID = query.run
        if let level = query.level, let stored = LogLevel.allCases.first(where: { LogLine.Level($0) == level }) {
            filter.level = stored
        }
        filter.since = try ControlError.time(since: query.since)
        // The last seconds are still in memory.
        await flush(to: store)
        return LogListing(lines: try await store.logs.list(filter).map(LogLine.init))
    }
}

extension LogLevel {
    package init(_ severity: LogSeverity) {
        self =
            switch severity {
            case .debug: .debug
            case .info: .info
            case .warn: .warn
            case .error: .error
            }
    }
}

extension LogLine.Level {
    fileprivate init(_ level: LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warn: .warn
            case .error: .error
            }
    }
}

extension LogLine {
    fileprivate init(_ stored: (id: Int64, entry: StarwatchStore.LogEntry)) {
        self.init(
            id: stored.id,
            at: stored.entry.at.iso8601,
            level: Level(stored.entry.level),
            runID: stored.entry.runID,
            line: stored.entry.line
        )
    }
}

import StarwatchCore
import StarwatchStore

/// The log in the database.
struct StoredLogs: Sendable {
    let recorder: LogRecorder
    let store: Store

    func lines(_ query: LogQuery) async throws -> LogListing {
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
        await recorder.flush(to: store)
        return LogListing(lines: try await store.logs.list(filter).map(LogLine.init))
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
    fileprivate init(_ stored: StoredLogEntry) {
        self.init(
            id: stored.id,
            at: stored.entry.at.iso8601,
            level: Level(stored.entry.level),
            runID: stored.entry.runID,
            line: stored.entry.line
        )
    }
}

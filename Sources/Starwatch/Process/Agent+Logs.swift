import StarwatchCore
import StarwatchStore

extension Agent {
    package func logs(_ query: LogQuery) async throws(ControlError) -> [LogLine] {
        try await counted(.read) { () async throws(ControlError) in
            guard (1...LogQuery.listLimit).contains(query.limit) else {
                throw ControlError(.invalid, "The limit must be between 1 and \(LogQuery.listLimit).")
            }
            var filter = LogFilter()
            filter.limit = query.limit
            filter.after = query.after
            filter.runID = query.run
            if let level = query.level { filter.level = LogLevel(level) }
            if let since = query.since {
                guard let time = Timestamp(iso8601: since) else {
                    throw ControlError(.invalid, "since must be a time such as 2026-01-01T12:00:00Z.")
                }
                filter.since = time
            }
            // The last seconds are still in memory.
            await process.logs.recorder.flush(to: store)
            do throws(StoreError) { return try await store.logs(filter).map(LogLine.init) } catch {
                throw ControlError(error)
            }
        }
    }
}

extension LogLevel {
    fileprivate init(_ level: LogLine.Level) {
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
        let level: Level =
            switch stored.entry.level {
            case .debug: .debug
            case .info: .info
            case .warn: .warn
            case .error: .error
            }
        self.init(
            id: stored.id,
            at: stored.entry.at.iso8601,
            level: level,
            runID: stored.entry.runID,
            line: stored.entry.line
        )
    }
}

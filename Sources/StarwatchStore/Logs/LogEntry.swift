package import StarwatchCore

/// The levels of a stored line, in rising order.
package enum LogLevel: Int, Sendable, CaseIterable {
    case debug, info, warn, error
}

/// A formatted and redacted log line.
package struct LogEntry: Sendable, Hashable {
    package let at: Timestamp
    package let level: LogLevel
    /// The run that the line belongs to; `nil` for none.
    package let runID: String?
    package let line: String

    package init(at: Timestamp, level: LogLevel, runID: String? = nil, line: String) {
        self.at = at
        self.level = level
        self.runID = runID
        self.line = line
    }
}

/// A stored line with its position.
package struct StoredLogEntry: Sendable, Hashable {
    package let id: Int64
    package let entry: LogEntry
}

/// A selection of stored lines. A `nil` property does not restrict.
package struct LogFilter: Sendable, Hashable {
    package var since: Timestamp?
    /// The lowest level.
    package var level = LogLevel.debug
    package var runID: String?
    /// Only lines after this one, the oldest first; `nil` selects the newest lines.
    package var after: Int64?
    package var limit = 1000

    package init() {}
}

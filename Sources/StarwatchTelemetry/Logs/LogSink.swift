/// A redacted line for the sinks. Repetitions are already folded.
package struct LogRecord: Sendable {
    /// Unix time in milliseconds.
    package let timestampMilliseconds: Int64
    package let severity: LogSeverity
    /// The run that the entry belongs to; `nil` for none.
    package let runID: String?
    package let format: LogFormat
    /// The line, including its line feed.
    package let line: [UInt8]

    package init(
        timestampMilliseconds: Int64,
        severity: LogSeverity,
        runID: String? = nil,
        format: LogFormat = .json,
        line: [UInt8]
    ) {
        self.timestampMilliseconds = timestampMilliseconds
        self.severity = severity
        self.runID = runID
        self.format = format
        self.line = line
    }
}

/// A receiver of lines, such as standard error or the store's ring of recent entries.
package protocol LogSink: Sendable {
    /// Receives one line. Called concurrently from any thread. Must not log.
    func take(_ record: LogRecord)
}

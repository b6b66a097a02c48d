/// A line as sinks get it: redacted, and not a repetition.
package struct LogRecord: Sendable {
    /// Unix time.
    package let timestampMilliseconds: Int64
    package let severity: LogSeverity
    package let format: LogFormat
    /// The whole line, line feed included.
    package let line: [UInt8]

    package init(timestampMilliseconds: Int64, severity: LogSeverity, format: LogFormat = .json, line: [UInt8]) {
        self.timestampMilliseconds = timestampMilliseconds
        self.severity = severity
        self.format = format
        self.line = line
    }
}

/// Takes finished lines: standard error, or the ring of recent entries that the store keeps.
package protocol LogSink: Sendable {
    /// Takes one line. Called from any thread, several at once; must not log.
    func take(_ record: LogRecord)
}

package import Logging
import Synchronization

/// The formats of a log line.
package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
}

/// The stages of a log entry: formatting, redaction, folding, sinks. All loggers of the program share one pipeline.
package final class LogPipeline: Sendable {
    private let format: LogFormat
    /// The minimum level of all loggers that have none of their own.
    package let level: Logger.Level
    private let settings:
        Mutex<(sinks: [any LogSink], blackBox: (any LogSink)?, pseudonym: (@Sendable (String) -> String)?)>
    private let folder = Mutex(LogFolder())
    private let boxFolder = Mutex(LogFolder(for: .blackBox))
    private let redactor = Redactor()
    private let metrics: LogMetrics?
    private let nowMilliseconds: @Sendable () -> Int64

    /// - Parameters:
    ///   - format: The format of lines.
    ///   - level: The minimum level.
    ///   - sinks: The receivers of lines, called in this order.
    ///   - metrics: The log's metrics; `nil` for commands without a registry.
    ///   - nowMilliseconds: Returns the Unix time in milliseconds.
    package init(
        format: LogFormat,
        level: Logger.Level,
        sinks: [any LogSink],
        metrics: LogMetrics?,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        (self.format, self.level) = (format, level)
        settings = Mutex((sinks, nil, nil))
        self.metrics = metrics
        self.nowMilliseconds = nowMilliseconds
    }

    /// Adds a sink, such as the store's ring once the store is open.
    package func add(_ sink: any LogSink) { settings.withLock { $0.sinks.append(sink) } }

    /// Sets the receiver of the notable entries, whose repetitions are folded for longer.
    package func setBlackBox(_ sink: any LogSink) { settings.withLock { $0.blackBox = sink } }

    /// Sets the keyed hash that replaces a DID by `did:hash:` and 16 hexadecimal digits. Before this call,
    /// identities are written as `[REDACTED:did]`.
    package func setPseudonym(_ pseudonym: @escaping @Sendable (String) -> String) {
        settings.withLock { $0.pseudonym = pseudonym }
    }

    /// Creates the handler of a logger.
    package func handler(label: String, metadataProvider: Logger.MetadataProvider? = nil) -> RedactingLogHandler {
        RedactingLogHandler(label: label, pipeline: self, metadataProvider: metadataProvider)
    }

    /// Writes an entry, or only counts it if it is a repetition.
    package func log(_ entry: LogEntry) {
        metrics?.entries[entry.severity].increment()
        let line = line(of: entry)
        let (isWritten, summaries) = folder.withLock { $0.take(entry) }
        write(summaries)
        if isWritten {
            deliver(entry, line)
        } else {
            metrics?.suppressed.increment()
        }
        guard entry.isNotable, let box = settings.withLock({ $0.blackBox }) else { return }
        let (isBoxed, earlier) = boxFolder.withLock { $0.take(entry) }
        for summary in earlier { box.take(summary, line: self.line(of: summary)) }
        if isBoxed { box.take(entry, line: line) }
    }

    /// Writes the summaries whose window is over. A service calls it periodically, for times without log entries.
    package func flushExpired() {
        let now = nowMilliseconds()
        write(folder.withLock { $0.expire(at: now) }, boxFolder.withLock { $0.expire(at: now) })
    }

    /// Writes all summaries, before the program ends.
    package func flush() {
        let now = nowMilliseconds()
        write(folder.withLock { $0.report(at: now) }, boxFolder.withLock { $0.report(at: now) })
    }

    /// The pseudonym of a DID. A pseudonym is returned unchanged.
    func pseudonym(of did: String) -> String {
        if Self.isPseudonym(did) { return did }
        guard let pseudonym = settings.withLock({ $0.pseudonym }) else { return RedactionKind.did.replacement }
        return pseudonym(did)
    }

    /// The current Unix time in milliseconds.
    func now() -> Int64 { nowMilliseconds() }

    private static func isPseudonym(_ text: String) -> Bool {
        text.utf8.count == 25 && text.hasPrefix("did:hash:")
            && text.utf8.dropFirst(9).allSatisfy { $0.isDigit || (0x61...0x66).contains($0) }
    }

    private func write(_ summaries: [LogEntry], _ boxed: [LogEntry] = []) {
        for entry in summaries { deliver(entry, line(of: entry)) }
        guard !boxed.isEmpty, let box = settings.withLock({ $0.blackBox }) else { return }
        for entry in boxed { box.take(entry, line: line(of: entry)) }
    }

    private func line(of entry: LogEntry) -> [UInt8] {
        var bytes = format == .json ? entry.jsonLine() : entry.textLine()
        let counts = redactor.redact(&bytes)
        for (kind, count) in counts { metrics?.redactions[kind].increment(by: UInt64(count)) }
        return bytes
    }

    private func deliver(_ entry: LogEntry, _ line: [UInt8]) {
        for sink in settings.withLock({ $0.sinks }) { sink.take(entry, line: line) }
    }
}

/// A receiver of lines, such as standard error or the store's ring of recent entries.
package protocol LogSink: Sendable {
    /// Receives one line. Called concurrently from any thread. Must not log.
    ///
    /// - Parameters:
    ///   - entry: The entry of the line, with its time, level, event and run.
    ///   - line: The redacted line, including its line feed. Repetitions are already folded.
    func take(_ entry: LogEntry, line: [UInt8])
}

/// A sink that passes on the lines of one event.
package struct EventLines: LogSink {
    private let event: String
    private let sink: any LogSink

    package init(of event: String, to sink: any LogSink) { (self.event, self.sink) = (event, sink) }

    package func take(_ entry: LogEntry, line: [UInt8]) { if entry.event == event { sink.take(entry, line: line) } }
}

/// Metrics of the log itself.
package struct LogMetrics: Sendable {
    /// Entries by level, including folded ones.
    package let entries = MetricRegistry.current
        .counters("starwatch_log_entries_total", "Log entries by level, including folded ones.").by(
            LabelDimension<LogSeverity>("level")
        )
    /// Redacted values, by kind.
    package let redactions = MetricRegistry.current
        .counters("starwatch_log_redactions_total", "Secrets and identifiers redacted from log lines, by kind.").by(
            LabelDimension<RedactionKind>("kind")
        )
    /// Entries folded into a later line.
    package let suppressed = MetricRegistry.current.counter(
        "starwatch_log_suppressed_total",
        "Repeated log entries folded into another line."
    )
    /// Lines dropped because their reader stalled.
    package let dropped = MetricRegistry.current.counter(
        "starwatch_log_dropped_total",
        "Log lines dropped because their reader stalled."
    )

    package init() {}
}

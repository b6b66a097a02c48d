/// What the log says about itself.
package struct LogMetrics: Sendable {
    /// Entries by level, folded ones included.
    package let entries: MetricVector1<LogSeverity, Counter>
    /// What the redactor replaced, by kind.
    package let redactions: MetricVector1<RedactionKind, Counter>
    /// Entries that were folded into a later line.
    package let suppressed: Counter
    /// Lines that nobody took.
    package let dropped: Counter

    /// Registers the families.
    package init(registry: MetricRegistry) {
        entries = registry.counters(
            .counter("starwatch_log_entries_total", "Log entries, folded ones included."),
            by: LabelDimension("level")
        )
        redactions = registry.counters(
            .counter("starwatch_log_redactions_total", "Secrets and identifiers that were replaced in log lines."),
            by: LabelDimension("kind")
        )
        suppressed = registry.counter(
            .counter("starwatch_log_suppressed_total", "Repeated log entries that were folded into another line.")
        )
        dropped = registry.counter(
            .counter("starwatch_log_dropped_total", "Log lines that were dropped: their reader stood still.")
        )
    }
}

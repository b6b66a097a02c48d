/// Metrics of the log itself.
package struct LogMetrics: Sendable {
    /// Entries by level, including folded ones.
    package let entries: MetricVector1<LogSeverity, Counter>
    /// Redacted values, by kind.
    package let redactions: MetricVector1<RedactionKind, Counter>
    /// Entries folded into a later line.
    package let suppressed: Counter
    /// Lines dropped because their reader stalled.
    package let dropped: Counter

    /// Registers the families.
    package init(registry: MetricRegistry) {
        entries = registry.counters(
            .counter("starwatch_log_entries_total", "Log entries by level, including folded ones."),
            by: LabelDimension("level")
        )
        redactions = registry.counters(
            .counter("starwatch_log_redactions_total", "Secrets and identifiers redacted from log lines, by kind."),
            by: LabelDimension("kind")
        )
        suppressed = registry.counter(
            .counter("starwatch_log_suppressed_total", "Repeated log entries folded into another line.")
        )
        dropped = registry.counter(
            .counter("starwatch_log_dropped_total", "Log lines dropped because their reader stalled.")
        )
    }
}

/// Folds repeated entries. A value without a clock: it uses the entries' times.
///
/// The first entry with a key is written; repetitions within the window are counted. The count is reported before the
/// next written entry, or at the end of the window.
package struct LogFolder: Sendable {
    /// The reader of the lines.
    package enum Reader: Sendable {
        /// It reads lines as they come, so a count comes before the next line.
        case log
        /// It reads them after the fact and has room for few, so a count comes at the end of a longer window, and other
        /// numbers make no other entry.
        case blackBox

        /// Period in which an entry suppresses its repetitions.
        package var windowMilliseconds: Int64 { self == .log ? 60_000 : 600_000 }
    }

    /// Limit of remembered keys.
    package static let capacity = 64
    /// Limit of a key, which bounds the memory. An entry with a longer key is not folded.
    static let longestKeyBytes = 4096

    private struct Run {
        /// With the details that all repetitions share.
        var summary: LogEntry
        let since: Int64
        var suppressed = 0
        /// The last repetition's ids and duration. A summary of one repetition has them, so its run can be followed.
        var last: (requestID: String?, runID: String?, durationMilliseconds: LogValue?)
    }

    private var runs: [[UInt8]: Run] = [:]
    private let reader: Reader

    package init(for reader: Reader = .log) { self.reader = reader }

    /// Number of remembered keys.
    var count: Int { runs.count }

    /// Processes an entry.
    ///
    /// - Returns: Whether to write the entry, and the summaries to write before it.
    package mutating func take(_ entry: LogEntry) -> (isWritten: Bool, summaries: [LogEntry]) {
        let now = entry.timestampMilliseconds
        var summaries = expire(at: now)
        var entry = entry
        if reader == .blackBox { entry.dropNumbers() }
        guard let key = entry.foldKey, key.count <= Self.longestKeyBytes else {
            if reader == .log { summaries += report(at: now) }
            return (true, summaries)
        }
        if runs[key] != nil {
            runs[key]?.suppressed += 1
            runs[key]?.summary.keepDetails(of: entry)
            runs[key]?.last = (entry.requestID, entry.runID, entry.durationMilliseconds)
            return (false, summaries)
        }
        if reader == .log { summaries += report(at: now) }
        if runs.count >= Self.capacity, let oldest = runs.min(by: { $0.value.since < $1.value.since }) {
            summaries += Self.reports(of: [oldest.value], at: now)
            runs[oldest.key] = nil
        }
        runs[key] = Run(summary: Self.summary(of: entry), since: now)
        return (true, summaries)
    }

    /// Removes the keys whose window is over, and those with a future time after the clock was set back.
    ///
    /// - Returns: Their summaries, oldest first.
    package mutating func expire(at milliseconds: Int64) -> [LogEntry] {
        guard !runs.isEmpty else { return [] }
        let over = runs.filter { abs(milliseconds - $0.value.since) >= reader.windowMilliseconds }
        for key in over.keys { runs[key] = nil }
        return Self.reports(of: Array(over.values), at: milliseconds)
    }

    /// Returns the summaries of all unreported repetitions, oldest first. The windows continue.
    package mutating func report(at milliseconds: Int64) -> [LogEntry] {
        let counted = runs.filter { $0.value.suppressed > 0 }
        for key in counted.keys { runs[key]?.suppressed = 0 }
        return Self.reports(of: Array(counted.values), at: milliseconds)
    }

    private static func reports(of runs: [Run], at milliseconds: Int64) -> [LogEntry] {
        runs.filter { $0.suppressed > 0 }.sorted { $0.since < $1.since }.map { run in
            var entry = run.summary
            entry.timestampMilliseconds = milliseconds
            if run.suppressed == 1 {
                (entry.requestID, entry.runID, entry.durationMilliseconds) = run.last
            }
            entry.counts.append((name: "suppressed", value: .integer(Int64(run.suppressed))))
            return entry
        }
    }

    /// The fields that all entries with the same key share, and the details of the first one.
    private static func summary(of entry: LogEntry) -> LogEntry {
        var summary = entry
        summary.requestID = nil
        summary.runID = nil
        summary.durationMilliseconds = nil
        if entry.severity == .warn || entry.severity == .error {
            summary.identity = nil
            summary.counts = []
            summary.metadata = entry.metadata.filter { LogEntry.isSubject($0.0) || LogEntry.isDetail($0) }
        }
        return summary
    }
}

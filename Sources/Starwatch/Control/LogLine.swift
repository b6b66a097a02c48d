package import StarwatchCore

/// A selection of the stored log. `nil` does not restrict.
package struct LogQuery: Sendable, Hashable {
    /// The maximum number of lines.
    package static let listLimit = 5000

    /// Only lines since this time, in RFC 3339.
    package var since: TimeText?
    /// The lowest level.
    package var level: LogLine.Level?
    /// Only lines of this run.
    package var run: String?
    /// The id of the last line before; only later lines are listed, the oldest first. `nil`: the newest lines.
    package var after: Int64?
    /// The maximum number of lines.
    package var limit = 1000

    package init() {}
}

package struct LogLine: Sendable, Codable, Hashable {
    package enum Level: String, Sendable, Codable, CaseIterable { case debug, info, warn, error }

    /// The position, which rises with every line.
    package var id: Int64
    package var at: TimeText
    package var level: Level
    package var runID: String?
    /// The line as it was logged, redacted.
    package var line: String
}

/// The lines.
package struct LogListing: Sendable, Codable {
    package var lines: [LogLine]
    /// One sentence about a run without lines; `nil` otherwise.
    package var note: String?
}

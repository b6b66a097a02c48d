import Foundation
import Logging
import StarwatchTelemetry

/// A line that is not part of the log.
package enum JournalLine {
    /// Returns the line with its priority if the journal reads the descriptor, else the line.
    ///
    /// - Parameter environment: The process's environment.
    package static func marked(
        _ line: String,
        _ level: LogOptions.Level,
        on descriptor: Int32,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        guard DescriptorWriter.isJournal(descriptor, environment: environment) else { return line }
        let severity = LogSeverity(Logger.Level(rawValue: level.rawValue) ?? .info)
        return severity.journalPrefix + line
    }
}

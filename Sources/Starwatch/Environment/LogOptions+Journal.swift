import Foundation
import Logging
import StarwatchTelemetry

extension LogOptions.Level {
    /// Returns a line that is not part of the log, with its priority if the journal reads the descriptor.
    ///
    /// - Parameter environment: The process's environment.
    package func marked(
        _ line: String,
        on descriptor: Int32,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        guard DescriptorWriter.isJournal(descriptor, environment: environment) else { return line }
        let severity = LogSeverity(Logger.Level(rawValue: rawValue) ?? .info)
        return severity.journalPrefix + line
    }
}

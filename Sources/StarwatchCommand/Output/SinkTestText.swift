import Starwatch
import StarwatchCore

/// The result of a test notification as text for a person.
enum SinkTestText {
    static func line(_ report: SinkTestReport) -> String {
        TerminalText.printable(
            "\(report.sink): \(report.result.rawValue) in \(report.tookMilliseconds) ms"
                + (report.error.map { ": \($0)" } ?? ".")
        )
    }
}

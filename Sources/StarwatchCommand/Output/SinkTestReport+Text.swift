import Starwatch
import StarwatchCore

/// The result of test notifications for a person.
extension SinkTestReport {
    /// The whole result in a line, and a line for each notification.
    var text: String { ([line] + messages.map { line($0) }).joined(separator: "\n") }

    var line: String {
        TerminalText.printable(
            "\(sink): \(result.rawValue) in \(tookMilliseconds) ms" + (error.map { ": \($0)" } ?? ".")
        )
    }

    /// Answer of the service to the notification that decided the result, as a sentence; `nil` if it said nothing.
    var answer: String? { messages.first { $0.notificationID == notificationID }?.answer.map { Self.sentence($0) } }

    /// The reason is left out if the first line has it.
    private func line(_ message: Message) -> String {
        let reason = message.error.flatMap { $0 == error ? nil : ": \($0)" } ?? "."
        let result = "  \(message.message.words): \(message.result.rawValue)\(reason)"
        return TerminalText.printable(result) + (message.answer.map { " " + Self.sentence($0) } ?? "")
    }

    private static func sentence(_ answer: String) -> String { TerminalText.printable("Answer: \(answer)") }
}

extension TestNotification {
    fileprivate var words: String {
        switch self {
        case .oneChange: "one change with a link"
        case .severalChanges: "several changes"
        case .notice: "a notice"
        }
    }
}

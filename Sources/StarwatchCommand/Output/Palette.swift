import Foundation
import Starwatch

/// The colours of states on a terminal.
enum Palette {
    /// Whether this task's output is coloured.
    @TaskLocal static var isOn = false

    /// Whether to colour standard output: a terminal that supports it, unless `NO_COLOR` has a value.
    static func isWanted(
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        TerminalText.isColourWanted(isTerminal: isTerminal, environment: environment)
    }

    private static let good: Set = ["ok", "healthy", "fresh", "closed", "delivered", "acknowledged", "consistent"]
    private static let fair: Set = [
        "warning", "half_open", "claimed", "pending", "skipped", "degraded", "unavailable", "open",
    ]
    private static let bad: Set = [
        "problem", "stale", "needs", "dead", "failed", "rejecting", "rejected", "disabled", "gone", "timeout",
    ]

    /// Returns the text with its first word coloured, if that is the name of a state.
    static func painted(_ text: String) -> String {
        guard isOn else { return text }
        let word = text.prefix { $0.isLetter || $0 == "_" }
        let colour =
            good.contains(String(word))
            ? "32" : fair.contains(String(word)) ? "33" : bad.contains(String(word)) ? "31" : nil
        return colour.map { "\u{1B}[\($0)m\(word)\u{1B}[0m" + text.dropFirst(word.count) } ?? text
    }
}

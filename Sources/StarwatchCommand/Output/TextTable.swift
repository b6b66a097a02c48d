import Foundation
import Starwatch

/// Rows in aligned columns, for a terminal.
struct TextTable: Sendable {
    /// The titles of the columns; empty for a table without a title line.
    var titles: [String] = []
    /// The indices of the columns aligned to the right.
    var right: Set<Int> = []
    /// The columns that can contain states, which get colours; `nil` for all but the first.
    var states: Set<Int>?
    /// The cells. Every row has as many of them as the others, and as there are titles.
    var rows: [[String]]

    /// The title line and one line per row, with two spaces between columns, none at the end, and no final newline.
    /// Control characters, which could control the terminal, are shown as `?`. States are coloured by ``Palette``.
    var text: String {
        let lines = (titles.isEmpty ? [] : [titles]) + rows.map { $0.map(TerminalText.printable) }
        let columns = lines.first?.indices ?? titles.indices
        let widths = columns.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            var cells = columns.map { column in
                let padding = String(repeating: " ", count: widths[column] - line[column].count)
                let isState = states?.contains(column) ?? (column > 0)
                let cell = isState ? Palette.painted(line[column]) : line[column]
                return right.contains(column) ? padding + cell : cell + padding
            }.joined(separator: "  ")
            while cells.last == " " { cells.removeLast() }
            return cells
        }.joined(separator: "\n")
    }

    /// Names and values in two aligned columns.
    static func pairs(_ pairs: [(name: String, value: String)]) -> String {
        let pairs = pairs.map { (name: TerminalText.printable($0.name), value: $0.value) }
        let width = pairs.map(\.name.count).max() ?? 0
        return pairs.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2)
                + Palette.painted(TerminalText.printable(value))
        }.joined(separator: "\n")
    }
}

extension Int {
    /// The number with its noun: `1 row`, `2 rows`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

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

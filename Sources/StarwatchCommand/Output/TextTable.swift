import Starwatch

/// Rows in aligned columns, for a terminal.
struct TextTable: Sendable {
    var titles: [String]
    /// The indices of the columns aligned to the right.
    var right: Set<Int> = []
    /// Each row has as many cells as ``titles``.
    var rows: [[String]]

    /// The title line and one line per row, with two spaces between columns, none at the end, and no final newline.
    /// Control characters, which could control the terminal, are shown as `?`.
    var text: String {
        let lines = [titles] + rows.map { $0.map(TerminalText.printable) }
        let widths = titles.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            var cells = titles.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - line[column].count)
                return right.contains(column) ? padding + line[column] : line[column] + padding
            }.joined(separator: "  ")
            while cells.last == " " { cells.removeLast() }
            return cells
        }.joined(separator: "\n")
    }

    /// Names and values in two aligned columns.
    static func pairs(_ pairs: [(name: String, value: String)]) -> String {
        let width = pairs.map(\.name.count).max() ?? 0
        return pairs.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + TerminalText.printable(value)
        }.joined(separator: "\n")
    }
}

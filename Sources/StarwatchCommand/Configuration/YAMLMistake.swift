/// A common mistake in a file that is not YAML, with the line that is wrong and not the one where the parser gave up.
struct YAMLMistake: Hashable {
    /// From 1.
    var line: Int
    /// The end of a sentence that begins with the line.
    var message: String

    /// Returns the mistake that explains an error of the parser; `nil` if it is none of the common ones.
    ///
    /// - Parameters:
    ///   - line: The line of the parser's error.
    ///   - error: The parser's words.
    static func find(in text: String, at line: Int, error: String) -> YAMLMistake? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(Line.init)
        let last = min(line, lines.count)
        let read = lines.indices.prefix(last).filter { !lines[$0].isBlank }
        return otherFormat(lines, read) ?? tab(lines, read) ?? unquoted(lines, read) ?? unclosed(lines, error)
            ?? document(lines, read) ?? colon(lines, read, error) ?? indentation(lines, read)
            ?? pair(lines, read, error)
    }

    /// A line of the file.
    private struct Line {
        let text: Substring
        /// The spaces before the content.
        let indent: Int

        init(_ text: Substring) {
            self.text = text.last == "\r" ? text.dropLast() : text
            indent = text.prefix { $0 == " " }.count
        }

        var content: Substring { text.drop { $0 == " " || $0 == "\t" } }
        var isBlank: Bool { content.isEmpty || content.first == "#" }

        /// The column of the content after the marks of list items.
        var column: Int {
            var (column, rest) = (indent, content)
            while rest.hasPrefix("- ") {
                let spaces = rest.dropFirst().prefix { $0 == " " }.count
                column += 1 + spaces
                rest = rest.dropFirst(1 + spaces)
            }
            return column
        }

        /// The key and the value of `key: value`, also after `- `.
        var pair: (key: Substring, value: Substring)? {
            text.firstMatch(of: /^\s*(?:- +)*([A-Za-z_][\w\-]*):(?:\s+(.*))?$/).map { ($0.1, $0.2 ?? "") }
        }
    }

    private static func otherFormat(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        guard let first = read.first, let match = lines[first].text.wholeMatch(of: /\[([\w.]+)\]\s*/) else {
            return nil
        }
        let message = "looks like TOML or INI; write \"\(match.1):\" with indented \"key: value\" lines below."
        return YAMLMistake(line: first + 1, message: message)
    }

    private static func tab(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        if let index = read.first(where: { lines[$0].text.prefix { $0 == " " || $0 == "\t" }.contains("\t") }) {
            return YAMLMistake(line: index + 1, message: "is indented with a tab; use spaces.")
        }
        return read.first { lines[$0].text.contains(":\t") }.map {
            YAMLMistake(line: $0 + 1, message: "has a tab after a colon; use a space or a new line.")
        }
    }

    /// A value that begins with a character of YAML's own.
    private static func unquoted(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        for index in read.suffix(2).reversed() {
            guard let (key, value) = lines[index].pair, let first = value.first, "*@%`&!".contains(first) else {
                continue
            }
            let message =
                key == "schedule"
                ? "has a schedule without quotes; quote the schedule, such as schedule: \"*/15 * * * *\"."
                : "has a value that begins with \(first); quote the value of \(key)."
            return YAMLMistake(line: index + 1, message: message)
        }
        return nil
    }

    /// A quote or a bracket without its end. The parser notices it only at the end of the file.
    private static func unclosed(_ lines: [Line], _ error: String) -> YAMLMistake? {
        if error.contains("quoted scalar") {
            return lines.firstIndex { !$0.isBlank && $0.text.count { $0 == "\"" } % 2 == 1 }.map {
                YAMLMistake(line: $0 + 1, message: "opens a quote and does not close it; add the other quote.")
            }
        }
        guard error.contains("flow sequence") || error.contains("flow mapping") else { return nil }
        let opened = lines.firstIndex { line in
            func count(_ characters: String) -> Int { line.text.count { characters.contains($0) } }
            return !line.isBlank && count("[{") > count("]}")
        }
        return opened.map {
            YAMLMistake(
                line: $0 + 1,
                message: "opens a bracket and does not close it; add the other bracket or a comma."
            )
        }
    }

    private static func document(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        read.dropFirst().first { lines[$0].text.hasPrefix("---") }.map {
            YAMLMistake(line: $0 + 1, message: "begins a second document; keep one, and remove \"---\".")
        }
    }

    /// A section without its colon.
    private static func colon(_ lines: [Line], _ read: [Int], _ error: String) -> YAMLMistake? {
        guard error.contains("mapping values"), let before = read.dropLast().last,
            let match = lines[before].content.wholeMatch(of: /([a-z_]+)\s*/)
        else { return nil }
        return YAMLMistake(line: before + 1, message: "has no colon; write \"\(match.1):\".")
    }

    /// The first line whose column is none of the open sections'.
    private static func indentation(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        var open: [Int] = []
        var canOpen = true
        for index in read {
            let line = lines[index]
            let isItem = line.content.hasPrefix("- ") || line.content == "-"
            // Another line continues a text.
            guard line.pair != nil || isItem else { continue }
            var expected = open.last ?? line.indent
            if canOpen, line.indent > expected || open.isEmpty {
                open.append(line.indent)
            } else {
                while let top = open.last, top > line.indent {
                    expected = top
                    open.removeLast()
                }
                guard open.last == line.indent else {
                    let spaces = "\(line.indent) space\(line.indent == 1 ? "" : "s")"
                    let message = "is indented by \(spaces); the lines of its section are indented by \(expected)."
                    return YAMLMistake(line: index + 1, message: message)
                }
            }
            if line.column > line.indent { open.append(line.column) }
            canOpen = line.pair?.value.allSatisfy { $0 == " " } ?? true
        }
        return nil
    }

    /// A second colon in a value.
    private static func pair(_ lines: [Line], _ read: [Int], _ error: String) -> YAMLMistake? {
        guard error.contains("mapping values"), let index = read.last, let (key, value) = lines[index].pair,
            value.contains(": ")
        else { return nil }
        return YAMLMistake(line: index + 1, message: "has a value with a colon and a space; quote the value of \(key).")
    }
}

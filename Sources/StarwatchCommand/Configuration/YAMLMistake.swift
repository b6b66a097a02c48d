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
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(Line.init)
        let last = min(line, lines.count)
        let read = lines.indices.prefix(last).filter { !lines[$0].isBlank }
        return otherFormat(lines, read) ?? tab(lines, read) ?? unquoted(lines, read) ?? unclosed(lines, error)
            ?? document(lines, read) ?? colon(lines, read, error) ?? indentation(lines, read)
            ?? pair(lines, read, error) ?? bareWord(lines, read)
    }

    /// A line of the file.
    private struct Line {
        let text: Substring
        /// The spaces before the content.
        let indent: Int

        init(_ text: Substring) {
            self.text = Self.withoutComment(text)
            indent = text.prefix { $0 == " " }.count
        }

        /// A comment begins at the start or after a space, outside of quotes.
        private static func withoutComment(_ text: Substring) -> Substring {
            var quote: Character?
            var before: Character = " "
            for index in text.indices {
                let character = text[index]
                if let open = quote {
                    if character == open { quote = nil }
                } else if character == "#", before == " " || before == "\t" {
                    return text[..<index]
                } else if "\"'".contains(character), " [{,".contains(before) {
                    quote = character
                }
                before = character
            }
            return text
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
            if let mistake = secret(key, at: index) { return mistake }
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
            // The scalar begins on the line of the parser's context.
            return lines.firstIndex { line in "\"'".contains { quote in line.text.count { $0 == quote } % 2 == 1 } }.map
            {
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
            let match = lines[before].content.wholeMatch(of: /([a-z_]+)\s*/),
            // Another word can be a secret.
            ConfigurationTable.settings.contains(where: { $0.key == match.1 })
        else { return nil }
        return YAMLMistake(line: before + 1, message: "has no colon; write \"\(match.1):\".")
    }

    /// The first line whose indentation matches no open section.
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
        if let mistake = secret(key, at: index) { return mistake }
        return YAMLMistake(line: index + 1, message: "has a value with a colon and a space; quote the value of \(key).")
    }

    /// A secret that is no value of YAML.
    private static func secret(_ key: Substring, at index: Int) -> YAMLMistake? {
        guard UnknownSetting.isSecret(String(key)) else { return nil }
        let message = "has a secret, which never belongs here; write it into a file of its own, and name that file."
        return YAMLMistake(line: index + 1, message: message)
    }

    /// A line that is neither `key: value` nor an item of a list.
    private static func bareWord(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        read.last { lines[$0].pair == nil && !lines[$0].content.hasPrefix("-") }.map { index in
            let key = lines[index].content.prefixMatch(of: /([a-z_]+):\S/)?.1
            let message = key.map { "needs a space after \"\($0):\"." } ?? "must be \"key: value\"."
            return YAMLMistake(line: index + 1, message: message)
        }
    }
}

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
        return otherFormat(lines, read) ?? tab(lines, read) ?? unquoted(lines, read) ?? quote(lines, read)
            ?? unclosed(lines, error) ?? document(lines, read) ?? colon(lines, read, error) ?? indentation(lines, read)
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
        if let mark = lines.indices.first(where: { isConflict(lines[$0].text) }) {
            return YAMLMistake(
                line: mark + 1,
                message: "is a mark of a merge conflict; keep one side, and remove the marks."
            )
        }
        guard let first = read.first, let match = lines[first].text.wholeMatch(of: /\[([\w.]+)\]\s*/) else {
            return nil
        }
        let message = "looks like TOML or INI; write \"\(match.1):\" with indented \"key: value\" lines below."
        return YAMLMistake(line: first + 1, message: message)
    }

    private static func isConflict(_ line: Substring) -> Bool {
        ["<<<<<<<", ">>>>>>>", "======="].contains { line.hasPrefix($0) }
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
            guard let (key, value) = lines[index].pair, let first = value.first,
                "*@%`&!".contains(first) || value.hasPrefix("{{")
            else {
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

    /// A value that begins with a quote, and does not end with the only other one.
    private static func quote(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        for index in read {
            guard let value = lines[index].pair?.value, let first = value.first, "\"'".contains(first),
                value.count(where: { $0 == first }) % 2 == 1
            else { continue }
            let isApostrophe = first == "'" && value.count { $0 == first } > 1
            let message =
                isApostrophe
                ? "has an apostrophe in single quotes; use double quotes."
                : "opens a quote and does not close it; add the other quote."
            return YAMLMistake(line: index + 1, message: message)
        }
        return nil
    }

    /// A line of JSON without its comma, in brackets that are all closed.
    private static func comma(_ lines: [Line]) -> YAMLMistake? {
        let full = lines.indices.filter { !lines[$0].isBlank }
        func depth(_ line: Line) -> Int {
            line.text.count { "[{".contains($0) } - line.text.count { "]}".contains($0) }
        }
        guard full.reduce(0, { $0 + depth(lines[$1]) }) == 0 else { return nil }
        var open = 0
        for (index, next) in zip(full, full.dropFirst()) {
            open += depth(lines[index])
            let last = lines[index].text.last { $0 != " " } ?? ","
            guard open > 0, !",[{:".contains(last), let first = lines[next].content.first, !"]},".contains(first) else {
                continue
            }
            return YAMLMistake(line: index + 1, message: "has no comma at its end; add one.")
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
        if error.contains("flow node"), let double = lines.firstIndex(where: { $0.text.contains(/[,\[{]\s*,/) }) {
            return YAMLMistake(line: double + 1, message: "has a comma too many; remove it.")
        }
        guard error.contains("flow sequence") || error.contains("flow mapping") else { return nil }
        if let mistake = comma(lines) { return mistake }
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
        guard SettingsField.isSecret(String(key)) else { return nil }
        let message = "has a secret, which never belongs here; write it into a file of its own, and name that file."
        return YAMLMistake(line: index + 1, message: message)
    }

    /// A line that is neither `key: value` nor an item of a list.
    private static func bareWord(_ lines: [Line], _ read: [Int]) -> YAMLMistake? {
        read.last { lines[$0].pair == nil && !lines[$0].content.hasPrefix("-") }.map { index in
            let content = lines[index].content
            let isComment = ["//", ";", "/*"].contains { content.hasPrefix($0) }
            let problem = isComment ? "is no comment; a comment begins with #." : pairProblem(String(content))
            return YAMLMistake(line: index + 1, message: problem ?? "must be \"key: value\".")
        }
    }

    // MARK: Lines of values

    /// Returns what a text lacks that is meant as `key: value`; `nil` for any other. The value can be a secret.
    static func pairProblem(_ text: String) -> String? {
        if text.unicodeScalars.contains(where: isStrangeSpace) {
            return "has a no-break space or another invisible character; type it again with plain spaces."
        }
        // A DID and a URL have a colon too.
        if !text.hasPrefix("did:"), let match = text.prefixMatch(of: /([a-z_]+):(?!\/\/)\S/) {
            return "needs a space after \"\(match.1):\"."
        }
        guard let match = text.prefixMatch(of: /([a-z_]+)\s*(=?)\s*\S/), isSetting(match.1) else { return nil }
        return match.2.isEmpty
            ? text.prefixMatch(of: /[a-z_]+\s/).map { _ in "needs a colon after \"\(match.1)\"." }
            : "needs a colon and a space after \"\(match.1)\", in place of =."
    }

    private static func isSetting(_ word: Substring) -> Bool {
        ConfigurationPrinter.reference.contains { $0.path == word || $0.path.hasSuffix("." + word) }
    }

    /// Whether it looks like a space or like nothing, and is none of YAML's.
    static func isStrangeSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0xAD, 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x2064, 0x3000, 0xFEFF: true
        default: false
        }
    }
}

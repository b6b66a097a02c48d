import StarwatchCore

/// The part of Markdown that runbooks use: headings, paragraphs, lists, code blocks and code spans.
///
/// Raw HTML in the text is escaped.
struct Markdown {
    private enum Block {
        case heading(level: Int, String)
        case paragraph(String)
        case code(String)
        case list(isNumbered: Bool, [String])
    }

    /// Returns the address of a word's page; `nil` if it has none.
    var link: (String) -> String? = { _ in nil }

    /// - Parameter text: The text; its headings keep their levels.
    func html(_ text: String) -> HTML { blocks(text).reduce("") { "\($0)\(html($1))\n" } }

    private func html(_ block: Block) -> HTML {
        switch block {
        case .heading(level: 1, let text): return "<h1>\(spans(text))</h1>"
        case .heading(level: _, let text): return "<h2>\(spans(text))</h2>"
        case .paragraph(let text): return "<p>\(spans(text))</p>"
        case .code(let text): return "<pre tabindex=\"0\"><code>\(text)</code></pre>"
        case .list(let isNumbered, let items):
            let rows = items.map { "<li>\(spans($0))</li>\n" as HTML }
            return isNumbered ? "<ol>\n\(rows)</ol>" : "<ul>\n\(rows)</ul>"
        }
    }

    // MARK: - Blocks

    private func blocks(_ text: String) -> [Block] {
        var blocks: [Block] = []
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        while let line = lines.popFirst() {
            if line.hasPrefix("```") {
                let code = lines.prefix { !$0.hasPrefix("```") }
                lines = lines.dropFirst(code.count + 1)
                blocks.append(.code(code.joined(separator: "\n")))
            } else if line.hasPrefix("#") {
                let level = line.prefix { $0 == "#" }.count
                blocks.append(.heading(level: level, String(line.dropFirst(level + 1))))
            } else if let (item, isNumbered) = Self.item(line) {
                let text = Self.continued(item, &lines)
                if case .list(isNumbered, let items)? = blocks.last {
                    blocks[blocks.count - 1] = .list(isNumbered: isNumbered, items + [text])
                } else {
                    blocks.append(.list(isNumbered: isNumbered, [text]))
                }
            } else if !line.isEmpty {
                blocks.append(.paragraph(Self.continued(line, &lines)))
            }
        }
        return blocks
    }

    /// Returns a list item's text and whether the list is numbered; `nil` for another line.
    private static func item(_ line: String) -> (String, isNumbered: Bool)? {
        if line.hasPrefix("- ") { return (String(line.dropFirst(2)), false) }
        let digits = line.prefix { $0.isNumber }
        guard !digits.isEmpty, line.dropFirst(digits.count).hasPrefix(". ") else { return nil }
        return (String(line.dropFirst(digits.count + 2)), true)
    }

    /// Returns a line with the lines that continue it.
    private static func continued(_ line: String, _ lines: inout ArraySlice<String>) -> String {
        let more = lines.prefix { !$0.isEmpty && !$0.hasPrefix("```") && !$0.hasPrefix("#") && item($0) == nil }
        lines = lines.dropFirst(more.count)
        return ([line] + more.map { String($0.trimmingPrefix { $0 == " " }) }).joined(separator: " ")
    }

    // MARK: - Spans

    private func spans(_ text: String) -> HTML { HTML(codeIn: text, words: words) }

    private func words(_ text: String) -> HTML {
        var html: HTML = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: \.isLetter) {
            let word = String(rest[start...].prefix { $0.isLetter || $0.isNumber })
            html = "\(html)\(String(rest[..<start]))"
            if let address = link(word) {
                html = "\(html)<a href=\"\(address)\">\(word)</a>"
            } else {
                html = "\(html)\(word)"
            }
            rest = rest[start...].dropFirst(word.count)
        }
        return "\(html)\(String(rest))"
    }
}

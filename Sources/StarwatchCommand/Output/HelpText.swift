/// The help of a command in 80 columns. ArgumentParser wraps all but the line of the usage.
enum HelpText {
    private static let width = 80

    static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("USAGE: ") && $0.count > width ? wrapped(usage: $0) : String($0) }
            .joined(separator: "\n")
    }

    private static func wrapped(usage line: Substring) -> String {
        var lines: [String] = [""]
        for word in words(of: line) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = word
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append("         " + word)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The words; text in brackets is one.
    private static func words(of line: Substring) -> [String] {
        line.split(separator: " ").reduce(into: []) { words, part in
            let isOpen = words.last.map { $0.count { $0 == "[" } > $0.count { $0 == "]" } } ?? false
            if isOpen { words[words.count - 1] += " " + part } else { words.append(String(part)) }
        }
    }
}

/// An alert's runbook, as `alerts/runbooks` has it.
struct Runbook: Sendable {
    /// The alert's name.
    let name: String
    /// The text in Markdown.
    let text: String

    /// - Parameter text: The text, whose first line is `# ` and the alert's name.
    private init(_ text: String) {
        name = String(text.dropFirst(2).prefix { !$0.isNewline })
        self.text = text
    }

    /// Returns the runbook of an alert; `nil` if there is none. `name` can end in `.md`, as a link to the file does.
    static func find(_ name: String) -> Runbook? {
        all.first { $0.name == name || $0.name + ".md" == name }
    }

    /// The first sentences: the section "Meaning".
    var meaning: String {
        let sections = text.split(separator: "\n## ", maxSplits: 2)
        guard sections.count > 1, let end = sections[1].firstIndex(of: "\n") else { return "" }
        return String(sections[1][end...].trimmingPrefix { $0.isNewline })
    }

    /// All runbooks by name. A test compares the list with the folder.
    static let all = EmbeddedFile.runbooks.split(separator: 0).map { Runbook(String(decoding: $0, as: UTF8.self)) }
}

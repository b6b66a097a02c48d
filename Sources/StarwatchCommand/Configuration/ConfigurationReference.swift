struct EffectiveSetting: Sendable, Encodable, Hashable {
    var path: String
    /// The value as in YAML. Secrets, the DID and plans are withheld.
    var value: String
    /// The line in the file; `nil` for a default.
    var line: Int?
}

/// The reference of the configuration: a Markdown table of each section, made from ``ConfigurationTable``.
enum ConfigurationReference {
    struct Row: Encodable {
        let path: String
        /// The default; empty for a section, `nil` for a setting without one.
        let value: String?
        let comment: String

        enum CodingKeys: String, CodingKey {
            case path
            case value = "default"
            case comment
        }
    }

    /// The sections, in the order of the file.
    static var sections: [(name: Substring, table: String)] {
        var sections: [(name: Substring, table: String)] = []
        for row in ConfigurationPrinter.reference {
            let name = row.path.prefix { $0 != "." }
            if sections.last?.name != name {
                sections.append((name, "| setting | default | values and meaning |\n| --- | --- | --- |\n"))
            }
            sections[sections.count - 1].table += line(row)
        }
        return sections
    }

    static var markdown: String { sections.map { "## \($0.name)\n\n\($0.table)" }.joined(separator: "\n") }

    /// Every setting, without the sections.
    static var settings: [Row] { ConfigurationPrinter.reference.filter { $0.value != "" } }

    private static func line(_ row: Row) -> String {
        let value = row.value.map { $0.isEmpty ? "" : "`\($0)`" } ?? "required"
        return "| `\(row.path)` | \(value) | \(row.comment.replacing(" | ", with: ", ")) |\n"
    }
}

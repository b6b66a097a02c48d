import Starwatch

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

/// The page starwatch.yaml(5), made from the same table as docs/configuration.md.
extension ConfigurationReference {
    /// The page in roff.
    static var manual: String {
        var lines = [
            ".TH STARWATCH.YAML 5 \"\" \"starwatch \(AgentVersion.current)\" \"File Formats\"",
            ".SH NAME", "starwatch.yaml - the configuration of starwatch(1)",
            ".SH DESCRIPTION",
            "A YAML file of sections with \"key: value\" lines. Every setting has a default, and an unknown setting is an "
                + "error. Relative paths start at the folder of the file. Secrets are never in it: a setting names the file "
                + "of each, which no other user can read.",
            ".PP",
            "Durations are whole numbers with a unit, such as 250ms, 30s, 15m, 4h or 7d. Sizes are such as 10MiB.",
            ".PP",
            "The agent reads it from --config FILE, else $STARWATCH_CONFIG, ./starwatch.yaml or "
                + "/etc/starwatch/starwatch.yaml. starwatch check reports each mistake with its line.",
            ".SH SETTINGS",
        ].map { $0.hasPrefix(".") ? $0 : escaped($0) }
        var section = ""
        for row in ConfigurationPrinter.reference {
            let name = String(row.path.prefix { $0 != "." && $0 != "[" })
            if name != section {
                section = name
                lines.append(".SS \(escaped(name))")
            }
            lines += [".TP", ".B \(escaped(row.path))", escaped(sentence(row))]
        }
        lines += [
            ".SH FILES", ".TP", ".I /etc/starwatch/starwatch.yaml",
            "The configuration of the service.", ".SH SEE ALSO", "starwatch(1)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func sentence(_ row: Row) -> String {
        let value = row.value.map { $0.isEmpty ? "" : "Default: \($0)." } ?? "Required."
        let comment = row.comment.isEmpty ? "" : row.comment + "."
        let text = [comment, value].filter { !$0.isEmpty }.joined(separator: " ")
        return text.isEmpty ? "A section." : text
    }

    /// Text in which roff sees no request and no escape.
    static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}

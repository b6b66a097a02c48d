import ArgumentParser
import Foundation
import Starwatch

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print the effective or the default configuration.",
        subcommands: [Print.self, Default.self, Reference.self]
    )

    struct Print: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "print",
            "Print the effective configuration, each value with its origin.",
            "Secrets are printed as <secret>, the DID as <did>, starred plans as <plan>.",
            examples: ["starwatch config print", "starwatch config print --config starwatch.yaml --json"]
        )

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let configuration = try arguments.access.configuration(secrets: false)
            if format.json { return print(try JSONOutput.encode(ConfigurationPrinter.settings(configuration))) }
            print(ConfigurationPrinter.yaml(configuration), terminator: "")
        }
    }

    struct Default: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "default",
            "Print the default configuration, with comments.",
            examples: ["starwatch config default > starwatch.yaml"]
        )

        func run() async throws { print(ConfigurationPrinter.defaults, terminator: "") }
    }

    struct Reference: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "reference",
            "Print every setting with its default and meaning, as Markdown.",
            examples: [
                "starwatch config reference", "starwatch config reference --json",
                "starwatch config reference --man > starwatch.yaml.5",
            ]
        )

        @Flag(help: "Print the manual page starwatch.yaml(5).")
        var man = false

        @OptionGroup var format: FormatArguments

        func validate() throws { if man, format.json { throw ValidationError("Give either --man or --json.") } }

        func run() async throws {
            if man { return print(ConfigurationManual.text, terminator: "") }
            try format.print(ConfigurationReference.settings) { _ in
                String(ConfigurationReference.markdown.dropLast())
            }
        }
    }
}

/// The page starwatch.yaml(5), made from the same table as docs/configuration.md.
enum ConfigurationManual {
    /// The page in roff.
    static var text: String {
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

    private static func sentence(_ row: ConfigurationReference.Row) -> String {
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

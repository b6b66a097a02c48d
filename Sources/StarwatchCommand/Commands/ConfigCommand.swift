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
            if man { return print(ConfigurationReference.manual, terminator: "") }
            try format.print(ConfigurationReference.settings) { _ in
                String(ConfigurationReference.markdown.dropLast())
            }
        }
    }
}

import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print the effective or the default configuration.",
        subcommands: [Print.self, Default.self, Reference.self]
    )

    struct Print: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "print",
            abstract: "Print the effective configuration, each value with its origin.",
            discussion: """
                Secrets are printed as <secret>, the DID as <did>, starred plans as <plan>.

                Examples:
                  starwatch config print
                  starwatch config print --config starwatch.yaml --json
                """
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
            commandName: "default",
            abstract: "Print the default configuration, with comments.",
            discussion: """
                Examples:
                  starwatch config default > starwatch.yaml
                """
        )

        func run() async throws {
            print(DefaultConfiguration.text, terminator: "")
        }
    }

    struct Reference: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reference",
            abstract: "Print every setting with its default and meaning, as Markdown.",
            discussion: """
                Examples:
                  starwatch config reference
                  starwatch config reference --json
                """
        )

        @OptionGroup var format: FormatArguments

        func run() async throws {
            try format.print(ConfigurationReference.settings) { _ in
                String(ConfigurationReference.markdown.dropLast())
            }
        }
    }
}

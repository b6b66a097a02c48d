import ArgumentParser
import Starwatch

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Describe the metrics.",
        subcommands: [List.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "catalogue",
            "List every metric family: type, unit, labels, help, stability.",
            """
            The number of series depends on the configured polls and sinks. Without a configuration file it uses \
            the defaults.
            """,
            examples: ["starwatch metrics catalogue", "starwatch metrics catalogue --markdown"]
        )

        @Flag(help: "Print a Markdown table.")
        var markdown = false

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func validate() throws {
            if markdown, format.json { throw ValidationError("Give either --markdown or --json.") }
        }

        func run() async throws {
            let options = try options()
            let text: String
            if markdown {
                text = try MetricCatalogue.markdown(for: options)
            } else if format.json {
                text = try MetricCatalogue.json(for: options)
            } else {
                let (titles, rows) = try MetricCatalogue.table(for: options)
                let count = try MetricCatalogue.seriesCount(for: options)
                text =
                    TextTable(titles: titles, states: [], rows: rows).text
                    + "\n\n\(count) series with this configuration\n"
            }
            print(text, terminator: text.hasSuffix("\n") ? "" : "\n")
        }

        private func options() throws(CommandError) -> AgentOptions {
            do throws(CommandError) {
                return try arguments.access.configuration(secrets: false).options
            } catch .noConfiguration {
                return ConfigurationTable.defaults
            }
        }
    }
}

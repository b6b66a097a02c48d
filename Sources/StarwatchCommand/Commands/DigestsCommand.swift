import ArgumentParser
import Starwatch

struct DigestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digests",
        abstract: "List the digests, or fetch or show one now.",
        discussion: """
            Goes through the running agent if there is one, else straight to the database. Without a subcommand it lists.
            """,
        subcommands: [List.self, Fetch.self, Show.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List what comes next, and how the last ones fared.",
            discussion: """
                A line an occurrence of the last and the next day. "planned" is not armed yet; the text is made of \
                "fresh" content, of "cached" content of another time, or the "fallback". "NAME/now" was asked for.
                """
        )

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let digests = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.digests()
            }
            try format.print(digests, DigestText.lines)
        }
    }

    struct Fetch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fetch",
            abstract: "Fetch a digest's content now.",
            discussion: """
                One try, of 12 s at most, beside those before the digest's times. What is armed is armed anew. Exits 1 \
                when it failed.
                """
        )

        @Argument(help: "The digest's name.")
        var name: String

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let name = name
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.fetchDigest(name)
            }
            try format.print(report, DigestText.line)
            if !report.isFresh { throw CommandError.fetchFailed }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a digest now.",
            discussion: """
                The stored content while it is young enough, else the fallback; under an id of its own, and beside the \
                digest's times. Nothing is fetched.
                """
        )

        @Argument(help: "The digest's name.")
        var name: String

        @OptionGroup var arguments: AgentArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let name = name
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.showDigest(name)
            }
            try format.print(report, DigestText.line)
        }
    }
}

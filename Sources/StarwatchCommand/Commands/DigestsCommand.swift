import ArgumentParser
import Starwatch

struct DigestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digests",
        abstract: "List the digests: what comes next, and how the last ones fared.",
        discussion: """
            A line an occurrence of the last and the next day. "planned" is not armed yet; the text is made of "fresh" \
            content, of "cached" content of another time, or the "fallback".
            """
    )

    @OptionGroup var arguments: AgentArguments
    @OptionGroup var format: FormatArguments

    func run() async throws {
        let digests = try await arguments.access.perform { agent throws(CommandError) in try await agent.digests() }
        try format.print(digests, DigestText.lines)
    }
}

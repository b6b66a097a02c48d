import ArgumentParser
import Starwatch

struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "End a wait that the server asked for.",
        subcommands: [ClearWait.self]
    )

    struct ClearWait: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "clear-wait",
            "End the wait that the server asked for with Retry-After.",
            """
            The next poll cycle sends requests again. Use it only if the wait is a mistake: a server can reject a \
            client that ignores its waits. Uses the running agent if there is one, else the database.
            """,
            examples: "starwatch server clear-wait",
            "starwatch server clear-wait --json"
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            try await arguments.show(ControlAPI.clearServerWait) { report in
                report.waitedUntil.map { "The wait until \($0) is over." } ?? "There is no wait."
            }
        }
    }
}

import ArgumentParser
import Starwatch

struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "End a wait that the server asked for.",
        subcommands: commands
    )
}

extension ServerCommand: OneQuestion {
    static let question = Question<NoOptions>(
        ControlAPI.clearServerWait,
        "clear-wait",
        "End the wait that the server asked for with Retry-After.",
        about: """
            The next poll cycle sends requests again. Use it only if the wait is a mistake: a server can reject a \
            client that ignores its waits. Uses the running agent if there is one, else the database.
            """,
        examples: ["starwatch server clear-wait", "starwatch server clear-wait --json"],
        text: { $0.waitedUntil.map { "The wait until \($0) is over." } ?? "There is no wait." }
    )
}

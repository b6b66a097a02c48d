import ArgumentParser

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Run a poll now, or try the settings of a list.",
        discussion: "'starwatch poll NAME' is 'starwatch poll run NAME'.",
        subcommands: PollArguments.commands + [PollTryCommand.self],
        defaultSubcommand: PollArguments.commands[0]
    )
}

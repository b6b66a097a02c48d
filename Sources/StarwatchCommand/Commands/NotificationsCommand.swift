import ArgumentParser

struct NotificationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "Follow notifications.",
        discussion: "The output names projects; it is meant for the agent's owner.",
        subcommands: [NotificationsFollowCommand.self]
    )
}

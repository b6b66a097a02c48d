import ArgumentParser
import Starwatch

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the configuration.",
        discussion: """
            Reports every problem with its line. Opens, sends and writes nothing. Exits 0 when the configuration is \
            valid, else 2.
            """
    )

    @OptionGroup var arguments: ConfigurationArguments

    func run() async throws {
        let configuration = try arguments.access.configuration()
        do throws(AgentError) {
            try await Agent.check(configuration.options)
        } catch {
            throw CommandError.agent(error)
        }
        let polls = configuration.options.polls.count
        let sinks = configuration.options.delivery.sinks.count
        print(
            "\(configuration.file) is good: \(polls) \(polls == 1 ? "poll" : "polls"), "
                + "\(sinks) \(sinks == 1 ? "sink" : "sinks")."
        )
    }
}

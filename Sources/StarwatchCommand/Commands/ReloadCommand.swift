import ArgumentParser
import Starwatch

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "reload",
        "Reload the configuration of the running agent.",
        """
        Does the same as SIGHUP and 'systemctl reload starwatch', and also says whether the agent took the file. If the \
        file has an error, the agent keeps its running configuration, and the command exits 1.
        """,
        examples: "sudo starwatch reload"
    )

    @OptionGroup var arguments: AgentArguments

    func run() async throws {
        let answer = try await arguments.access.running().perform(ControlAPI.reload)
        try arguments.print(answer) { _ in "The agent reloads its configuration." }
    }
}

import ArgumentParser
import Starwatch

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the agent's status.",
        discussion: """
            Exits 0 when the agent is healthy; 1 when it is degraded: signed out, no stars, no token, refused credentials, \
            a stale poll, dead letters, quarantined items, backpressure, an open circuit, a sink that is disabled or rejects everything, \
            skew over the limit, or inconsistent counters; 3 when no agent answers.
            """
    )

    @OptionGroup var arguments: AgentArguments

    func run() async throws {
        let agent = try arguments.access.running()
        let status: AgentStatus
        do throws(ControlError) { status = try await agent.status() } catch { throw CommandError.control(error) }
        print(
            try arguments.format.json ? JSONText.encode(status) : StatusText.page(status),
            terminator: arguments.format.json ? "\n" : ""
        )
        if status.status == .degraded { throw CommandError.degraded }
    }
}

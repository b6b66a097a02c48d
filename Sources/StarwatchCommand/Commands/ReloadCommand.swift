import ArgumentParser
import Glibc
import Starwatch

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "reload",
        "Reload the configuration of the running agent.",
        """
        Does the same as SIGHUP and 'systemctl reload starwatch', and also says whether the agent took the file. Returns \
        when the agent answers with the new configuration. If the file is rejected, the agent keeps its running \
        configuration, and the command exits 2.
        """,
        waiting: ControlAPI.reload.patience,
        examples: ["sudo starwatch reload"]
    )

    @OptionGroup var arguments: AgentArguments

    func run() async throws {
        // The agent's own sentence says what is wrong with the file.
        let agent = try arguments.access.running(saysMistakes: false)
        let former = Self.mark(of: agent.socketPath)
        let deadline = ContinuousClock.now + (arguments.access.timeout ?? ControlAPI.reload.patience)
        let answer = try await agent.perform(ControlAPI.reload)
        while await !Self.answers(agent, after: former) {
            guard ContinuousClock.now < deadline else {
                throw ControlError(
                    .timedOut,
                    "The agent took the configuration, and does not answer with it yet; see its log, and run 'starwatch status'."
                )
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        try arguments.print(answer) { _ in "The agent has reloaded its configuration." }
    }

    /// Whether the next run answers.
    private static func answers(_ agent: ControlClient, after former: [Int]?) async -> Bool {
        guard mark(of: agent.socketPath) != former else { return false }
        do throws(ControlError) { _ = try await agent.perform(ControlAPI.status) } catch {
            return ![.unreachable, .hungUp, .timedOut].contains(error.kind)
        }
        return true
    }

    /// Identifies the socket's file, which each run makes anew; `nil` while there is none.
    private static func mark(of socket: String) -> [Int]? {
        var info = stat()
        guard stat(socket, &info) == 0 else { return nil }
        return [Int(info.st_ino), info.st_ctim.tv_sec, info.st_ctim.tv_nsec]
    }
}

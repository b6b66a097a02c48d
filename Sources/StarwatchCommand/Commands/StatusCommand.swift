import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show the agent's status.",
        """
        Exits 0 when the agent is healthy; 1 when it has a problem, which the answer lists with the next command; 3 when \
        no agent answers.
        """,
        examples: ["starwatch status", "starwatch status --watch --interval 5s", "starwatch status --json"]
    )

    @Flag(help: "Repeat until interrupted. Waits for an agent that does not run.")
    var watch = false

    @Option(help: ArgumentHelp("The time between two statuses of --watch.", valueName: "time"))
    var interval = "2s"

    @OptionGroup var arguments: AgentArguments

    func validate() throws { _ = try period() }

    private func period() throws -> Duration {
        let possible = Duration.milliseconds(100)...Duration.seconds(3600)
        let rule = "--interval must be a time from 100ms to 1h, such as 2s."
        return try OptionValue.duration(interval, in: possible, rule)
    }

    func run() async throws {
        let agent = try arguments.access.running()
        if watch {
            let period = try period()
            let clears = isatty(STDOUT_FILENO) == 1 && !arguments.format.json
            let watch = StatusWatch(agent: agent, isJSON: arguments.format.json, clears: clears) {
                // Not `print`, which buffers output into a pipe.
                FileHandle.standardOutput.write(Data($0.utf8))
            }
            while true {
                try await watch.show()
                try await Task.sleep(for: period)
            }
        }
        let status = try await agent.perform(ControlAPI.status)
        try arguments.print(status, isGood: status.status == .healthy) { String(StatusCommand.page($0).dropLast()) }
    }
}

/// The pages of `starwatch status --watch`.
struct StatusWatch {
    let agent: any AgentControl
    let isJSON: Bool
    /// Whether a page replaces the one before, on a terminal.
    let clears: Bool
    let write: (String) -> Void

    /// Clears the terminal and moves to its first line.
    private static let clear = "\u{1B}[H\u{1B}[2J"

    /// Writes one page. For an agent that does not answer, a page says so; in JSON there is no line.
    func show() async throws {
        var status: AgentStatus?
        do {
            status = try await agent.perform(ControlAPI.status)
        } catch {
            guard [.unreachable, .timedOut, .hungUp].contains(error.kind) else { throw error }
        }
        if isJSON {
            guard let line = try? status.map(JSONEncoder.stable().encode) else { return }
            return write(JSONOutput.printable(String(decoding: line, as: UTF8.self)) + "\n")
        }
        let page = status.map(StatusCommand.page) ?? "No agent answers.\n"
        write(clears ? Self.clear + page : page + "\n")
    }
}

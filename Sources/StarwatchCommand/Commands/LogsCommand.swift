import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "logs",
        "Print the stored log.",
        """
        The database keeps the last 1,000 lines, and warnings and errors for 90 days. Uses the running agent if \
        there is one, else the database. Prints the newest 1,000 of the selected lines, as they were logged; with \
        --json, each as an object with its id, time, level and run.
        """,
        examples: ["starwatch logs --level warn --since 2h", "starwatch logs --follow"]
    )

    @Option(
        help: "Only lines since this time, such as 2026-01-01T12:00:00Z or 02:00, or of this last period, such as 2h."
    )
    var since: String?

    @Option(
        help: "The lowest level: \(LogLine.Level.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: .list(LogLine.Level.allCases.map(\.rawValue))
    )
    var level: String?

    @Option(help: "Only lines of this run: run_….")
    var run: String?

    @Flag(help: "Print new lines as they come, until interrupted. Waits for an agent that does not run.")
    var follow = false

    @OptionGroup var arguments: AgentArguments

    private func lowest() throws -> LogLine.Level? {
        try level.map { $0 == "warning" ? .warn : try LogLine.Level.read($0, "--level") }
    }

    func validate() throws {
        _ = try OptionValue.time(since, now: Timestamp(seconds: 0))
        _ = try lowest()
    }

    func run() async throws {
        var query = LogQuery()
        query.since = try OptionValue.time(since, now: SystemClock().now)?.iso8601
        query.level = try lowest()
        query.run = run
        let found = try await arguments.ask(ControlAPI.listLogs, query)
        var last = print(found.lines) ?? 0
        if let note = found.note { StandardError.say(note) }
        guard follow else { return }
        // Only the control socket: a database that this command holds open would keep an agent from starting.
        let agent = try arguments.access.running()
        while true {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            query.after = last
            do {
                last = print(try await agent.perform(ControlAPI.listLogs, query).lines) ?? last
            } catch {
                guard [.unreachable, .timedOut, .hungUp].contains(error.kind) else { throw error }
            }
        }
    }

    /// Prints lines, and returns the id of the last one. Not by `print`, which buffers output into a pipe.
    private func print(_ lines: [LogLine]) -> Int64? {
        for line in lines {
            let json = arguments.format.json ? try? ControlJSON.encode(line) : nil
            let text = json.map { JSONOutput.printable(String(decoding: $0, as: UTF8.self)) }
            FileHandle.standardOutput.write(Data(((text ?? TerminalText.printable(line.line)) + "\n").utf8))
        }
        return lines.last?.id
    }
}

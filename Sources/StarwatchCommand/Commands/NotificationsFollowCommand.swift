import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct NotificationsFollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "follow",
        "Print notifications as they arrive, until interrupted.",
        """
        Needs a running agent with a sink of kind feed. Prints one line for each notification: its time, title and \
        body; with --json, the text that sinks receive. If the agent restarts within 30 s, the command continues \
        and prints what arrived meanwhile.
        """,
        examples: ["starwatch notifications follow", "starwatch notifications follow --after 0 --json"]
    )

    @Option(help: "Start after this sequence; 0 prints all kept notifications. By default only new ones.")
    var after: Int64?

    @OptionGroup var arguments: AgentArguments

    func validate() throws { if let after, after < 0 { throw ValidationError("--after must not be negative") } }

    func run() async throws {
        let agent = try arguments.access.running()
        let json = arguments.format.json
        try await agent.followFeedAcrossRestarts(after: after) { event in
            guard let line = Self.line(event, json: json) else { return }
            // Not `print`, which buffers output into a pipe.
            FileHandle.standardOutput.write(Data((line + "\n").utf8))
        }
    }

    /// The line for an event; `nil` if nothing is to be printed.
    static func line(_ event: FeedEvent, json: Bool) -> String? {
        if event.name == "gap" {
            // Standard output is for notifications only.
            StandardError.say("starwatch: Some notifications are not kept any more.", .warning)
        }
        guard event.name == "notification" else { return nil }
        guard !json else { return event.data }
        guard let message = try? JSONDecoder().decode(NotificationMessage.self, from: Data(event.data.utf8)) else {
            return nil
        }
        let body = NotificationPolls.inOneLine(message.body)
        return TerminalText.printable("\(message.createdAt)  \(message.title): \(body)")
    }
}

extension ControlClient {
    /// The longest absence of an agent that restarts, in attempts a second apart.
    private static let patience = 30

    /// Calls `body` with every event, also across restarts of the agent. Ends only by an error.
    fileprivate func followFeedAcrossRestarts(
        after first: Int64?,
        _ body: (FeedEvent) -> Void
    ) async throws(ControlError) {
        var last = first
        var tries = 0
        while true {
            let isFirst = tries == 0
            do throws(ControlError) {
                try await followFeed(after: last) { event in
                    last = event.sequence ?? last
                    tries = 1
                    body(event)
                }
                tries = 1
            } catch {
                switch error.kind {
                // The agent restarts, stops or reloads.
                case .unreachable where !isFirst && tries <= Self.patience, .hungUp where tries <= Self.patience: break
                default: throw error
                }
            }
            tries += 1
            do { try await Task.sleep(for: .seconds(1)) } catch { throw .cancelled }
        }
    }
}

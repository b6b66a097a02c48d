import Foundation
import Starwatch
import StarwatchCore

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
        let page = status.map(StatusText.page) ?? "No agent answers.\n"
        write(clears ? Self.clear + page : page + "\n")
    }
}

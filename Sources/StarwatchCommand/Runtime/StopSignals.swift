import Dispatch
import Foundation
import Starwatch
import Synchronization

/// SIGTERM and SIGINT, for the whole life of the process.
///
/// An agent handles them while it runs. This type also covers the time between two runs of a reload and the end of a
/// run. It ends the process if work hangs that cannot be cancelled, such as a write to a dead disk.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let request = StopRequest()

    init() {
        sources = [SIGTERM, SIGINT].map { [request] number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: request.queue)
            source.setEventHandler { request.make() }
            source.activate()
            return source
        }
    }

    /// Returns whether one of the signals came.
    var isAsked: Bool { request.isMade }

    /// Tells `agent` to stop when a signal comes, or at once if one has come.
    ///
    /// - Parameter limit: The maximum duration of the stop.
    func hand(to agent: Agent, within limit: Duration) { request.hand(to: agent, within: limit) }
}

/// The request to stop, and the agent to notify.
private final class StopRequest: Sendable {
    private struct State {
        var isMade = false
        var agent: Agent?
        var limit = Duration.seconds(30)
    }

    /// Extra time, beyond the agent's limit, to close its resources.
    private static let grace = Duration.seconds(5)

    let queue = DispatchQueue(label: "starwatch.stop", qos: .userInitiated)
    private let state = Mutex(State())

    var isMade: Bool { state.withLock(\.isMade) }

    func hand(to agent: Agent, within limit: Duration) {
        let isMade = state.withLock { state in
            (state.agent, state.limit) = (agent, limit)
            return state.isMade
        }
        if isMade { agent.stop() }
    }

    func make() {
        let (agent, limit, isFirst) = state.withLock { state in
            defer { state.isMade = true }
            return (state.agent, state.limit, !state.isMade)
        }
        agent?.stop()
        guard isFirst else { return }
        let wait = limit + Self.grace
        queue.asyncAfter(deadline: .now() + .seconds(Int(wait.components.seconds))) {
            // Standard error can be the cause of the hang.
            _ = fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK)
            let message = "starwatch: Something did not end in time; what was under way is done after the next start.\n"
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(CommandExitCode.failed.rawValue)
        }
    }
}

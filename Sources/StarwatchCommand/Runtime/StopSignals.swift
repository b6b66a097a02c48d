import Dispatch
import Foundation
import Starwatch
import Synchronization

/// A handler of SIGTERM and SIGINT for the whole life of the process.
///
/// An agent handles them while it runs. This handler also works between the two runs of a reload and while an agent
/// stops, and ends the process if something hangs that cannot be cancelled, such as a write to a dead disk.
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

    /// Whether a signal has arrived.
    var isAsked: Bool { request.isMade }

    /// Stops `agent` when a signal arrives, or now if one has arrived.
    ///
    /// - Parameter limit: The time limit for stopping.
    func hand(to agent: Agent, within limit: Duration) { request.hand(to: agent, within: limit) }
}

/// A request to end the process, and the agent to stop.
private final class StopRequest: Sendable {
    private struct State {
        var isMade = false
        var agent: Agent?
        var limit = Duration.seconds(30)
    }

    /// The time beyond its limit that an agent has for closing files and connections.
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
            // Standard error can be what hangs.
            _ = fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK)
            let message = "starwatch: Something did not stop in time. The next start resumes the work in progress.\n"
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(CommandExitCode.failed.rawValue)
        }
    }
}

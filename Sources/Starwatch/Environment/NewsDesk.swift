public import StarwatchCore
import Synchronization

/// What an agent does that a host program may want to know.
public enum AgentNews: Sendable, Hashable {
    /// A cycle ended, and stored so many new changes.
    case poll(PollName, PollOutcome, newChanges: Int)
    /// A cycle was not begun.
    case skipped(PollName, SkipReason)
    /// Another identity is active; `nil`: none.
    case identityChanged(DID?)
}

/// Tells the agent's news to all who listen.
package final class NewsDesk: Sendable {
    /// Who does not keep up loses the oldest of more than this.
    static let backlog = 1000

    private struct State {
        var lastID: UInt64 = 0
        var isClosed = false
        var listeners: [UInt64: AsyncStream<AgentNews>.Continuation] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    func publish(_ news: AgentNews) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(news) }
    }

    func listen() -> AsyncStream<AgentNews> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AgentNews.self,
            bufferingPolicy: .bufferingNewest(Self.backlog)
        )
        let id: UInt64? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = continuation
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Ends every listener's sequence, and those of who comes later at once.
    func close() {
        let listeners = state.withLock { state in
            defer { (state.isClosed, state.listeners) = (true, [:]) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

public import StarwatchCore
import Synchronization

/// Agent events for a host program.
public enum AgentNews: Sendable, Hashable {
    /// A cycle ended and stored this number of new changes.
    case poll(PollName, PollOutcome, newChanges: Int)
    /// A cycle was skipped.
    case skipped(PollName, SkipReason)
    /// The active identity changed; `nil` means that none is active.
    case identityChanged(DID?)
}

/// Publishes the agent's events to all listeners.
package final class EventBroadcaster: Sendable {
    /// Maximum number of unread news items per listener. A slow listener loses the oldest.
    static let backlog = 1000

    private typealias Listeners = [UInt64: AsyncStream<AgentNews>.Continuation]

    private let state = Mutex<(lastID: UInt64, isClosed: Bool, listeners: Listeners)>((0, false, [:]))

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

    /// Ends the sequence of every listener, and of every later listener immediately.
    func close() {
        let listeners = state.withLock { state in
            defer { (state.isClosed, state.listeners) = (true, [:]) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

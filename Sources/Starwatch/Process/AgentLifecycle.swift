import Synchronization

/// Phase of the agent's life, for `/-/ready`.
package final class AgentLifecycle: Sendable {
    package enum Phase: UInt8, AtomicRepresentable, Sendable {
        case starting, running, draining
    }

    private let state = Atomic(Phase.starting)

    package var phase: Phase { state.load(ordering: .relaxed) }
    package func start() { state.store(.running, ordering: .relaxed) }
    package func drain() { state.store(.draining, ordering: .relaxed) }
}

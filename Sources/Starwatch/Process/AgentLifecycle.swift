import StarwatchCore
import Synchronization

/// Phase of the agent's life, for `/-/ready`.
package final class AgentLifecycle: Sendable {
    package enum Phase: UInt8, AtomicRepresentable, Sendable {
        case starting, running, draining
    }

    private let state = Atomic(Phase.starting)
    private let scrape: Mutex<Timestamp?>

    /// - Parameter previous: The life that a reload continues.
    init(after previous: AgentLifecycle?) { scrape = Mutex(previous?.lastScrape) }

    package var phase: Phase { state.load(ordering: .relaxed) }
    package func start() { state.store(.running, ordering: .relaxed) }
    /// Time of the last request of a scraper; `nil` before the first.
    var lastScrape: Timestamp? {
        get { scrape.withLock { $0 } }
        set { scrape.withLock { $0 = newValue } }
    }

    package func drain() { state.store(.draining, ordering: .relaxed) }
}

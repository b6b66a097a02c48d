import StarwatchStore
import Synchronization

@testable import Starwatch

/// Fails accesses of some kinds before anything is done.
final class StoreFault: Sendable {
    private let failing = Mutex<Set<StoreOperation>>([])

    /// Dependencies of an agent whose store fails.
    var dependencies: AgentDependencies {
        var dependencies = AgentDependencies()
        dependencies.store = { options in options.interrupt = self.interrupt }
        return dependencies
    }

    /// From now on these fail, and no others.
    func fail(_ operations: StoreOperation...) { failing.withLock { $0 = Set(operations) } }

    func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        if moment == .begun, failing.withLock({ $0.contains(operation) }) { throw StoreError.busy }
    }
}

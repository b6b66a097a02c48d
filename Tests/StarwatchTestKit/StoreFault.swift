package import StarwatchStore
import Synchronization

/// Fails accesses of some kinds before anything is done.
package final class StoreFault: Sendable {
    private let failing = Mutex<Set<StoreOperation>>([])

    package init() {}

    /// From now on these fail, and no others.
    package func fail(_ operations: StoreOperation...) { failing.withLock { $0 = Set(operations) } }

    package func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        if moment == .begun, failing.withLock({ $0.contains(operation) }) { throw StoreError.busy }
    }
}

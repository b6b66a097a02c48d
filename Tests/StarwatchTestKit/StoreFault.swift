package import StarwatchStore
import Synchronization

/// Fails accesses of some kinds before anything is done.
package final class StoreFault: Sendable {
    private let failing = Mutex<[StoreOperation: StoreError]>([:])

    package init() {}

    /// From now on these fail, and no others.
    package func fail(_ operations: StoreOperation..., with error: StoreError = .busy) {
        failing.withLock { $0 = Dictionary(uniqueKeysWithValues: operations.map { ($0, error) }) }
    }

    package func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        if moment == .begun, let error = failing.withLock({ $0[operation] }) { throw error }
    }
}

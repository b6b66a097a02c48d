package import StarwatchStore
import Synchronization

/// Fails accesses of some kinds before anything is done.
package final class StoreFault: Sendable {
    private let failing = Mutex<[StoreOperation: StoreError]>([:])
    /// The operation before which nothing fails; `nil` for none.
    private let awaited = Mutex<StoreOperation?>(nil)

    package init() {}

    /// From now on these fail, and no others.
    package func fail(_ operations: StoreOperation..., with error: StoreError = .busy) {
        failing.withLock { $0 = Dictionary(uniqueKeysWithValues: operations.map { ($0, error) }) }
    }

    /// These fail once `first` has begun.
    package func fail(_ operations: StoreOperation..., after first: StoreOperation) {
        awaited.withLock { $0 = first }
        failing.withLock { $0 = Dictionary(uniqueKeysWithValues: operations.map { ($0, .busy) }) }
    }

    package func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        let isEarly = awaited.withLock { awaited in
            if awaited == operation { awaited = nil }
            return awaited != nil
        }
        if !isEarly, moment == .begun, let error = failing.withLock({ $0[operation] }) { throw error }
    }
}

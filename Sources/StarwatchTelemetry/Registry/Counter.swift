import Synchronization

/// A count that only rises.
package final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)
    let exemplars: ExemplarSlots?

    init(carriesExemplars: Bool = false) {
        exemplars = carriesExemplars ? ExemplarSlots(count: 1) : nil
    }

    /// Adds to the count. Lock-free.
    package func increment(by amount: UInt64 = 1) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Adds to the count and keeps the exemplar, if the family carries them.
    package func increment(by amount: UInt64 = 1, exemplar: Exemplar?) {
        increment(by: amount)
        if let exemplar, let exemplars { exemplars.put(exemplar, value: Double(amount), at: 0) }
    }

    /// Adds what earlier runs of the program counted, so that a restart does not reset the series.
    ///
    /// Call it once. What was counted since the start stays counted.
    package func restore(_ initial: UInt64) {
        count.wrappingAdd(initial, ordering: .relaxed)
    }

    /// Raises the count to one that is kept elsewhere, such as the ledger's; a lower one changes nothing.
    package func raise(to value: UInt64) {
        _ = count.max(value, ordering: .relaxed)
    }

    package var value: UInt64 { count.load(ordering: .relaxed) }
}

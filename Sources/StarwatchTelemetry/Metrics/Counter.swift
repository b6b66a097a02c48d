import Synchronization

/// A count that never decreases.
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

    /// Adds to the count and keeps the exemplar, if the family carries exemplars.
    package func increment(by amount: UInt64 = 1, exemplar: Exemplar?) {
        increment(by: amount)
        if let exemplar, let exemplars { exemplars.put(exemplar, value: Double(amount), at: 0) }
    }

    /// Raises the count to a total that is kept elsewhere; a smaller one changes nothing.
    package func raise(to total: UInt64) { count.max(total, ordering: .relaxed) }

    package var value: UInt64 { count.load(ordering: .relaxed) }
}

import Synchronization

/// A count that never decreases.
package final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)
    let exemplars: ExemplarSlots?

    init(carriesExemplars: Bool = false) { exemplars = carriesExemplars ? ExemplarSlots(count: 1) : nil }

    /// Adds to the count. Lock-free.
    package func increment(by amount: UInt64 = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// Adds to the count and keeps the exemplar, if the family carries exemplars.
    package func increment(by amount: UInt64 = 1, exemplar: Exemplar?) {
        increment(by: amount)
        if let exemplar, let exemplars { exemplars.put(exemplar, value: Double(amount), at: 0) }
    }

    /// Raises the count to a total that is kept elsewhere; a smaller one changes nothing.
    package func raise(to total: UInt64) { count.max(total, ordering: .relaxed) }

    package var value: UInt64 { count.load(ordering: .relaxed) }
}

/// A metric whose series can appear on the page once it has a value.
protocol Appearing: Sendable {
    /// Whether it has counted anything, or was set.
    var hasCounted: Bool { get }
}

/// A cumulative metric that can continue from another's value.
protocol Counting: Appearing {
    /// Adds the total of `other`.
    ///
    /// A metric of another kind or with other buckets is ignored: a reload changed its definition, so it restarts at 0.
    func add(_ other: any Counting)
}

extension Gauge: Appearing {
    var hasCounted: Bool { value != 0 }
}

extension Counter: Counting {
    var hasCounted: Bool { value > 0 }

    func add(_ other: any Counting) { if let other = other as? Counter { increment(by: other.value) } }
}

extension Histogram: Counting {
    var hasCounted: Bool { counts.contains { $0 > 0 } }

    func add(_ other: any Counting) {
        guard let other = other as? Histogram, other.bounds == bounds else { return }
        add(counts: other.counts, sum: other.sum)
    }
}

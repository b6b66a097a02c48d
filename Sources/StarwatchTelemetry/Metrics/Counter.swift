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

/// A handle by which the program sets or counts, and whose value a page shows.
protocol MetricHandle: Sendable {
    /// Whether it has counted anything, or was set. Until then, a hidden series is not on the page.
    var hasCounted: Bool { get }

    /// Adds the total of `other`. A gauge has none.
    ///
    /// A metric of another kind or with other buckets is ignored: a reload changed its definition, so it restarts at 0.
    func add(_ other: any MetricHandle)
}

extension Gauge: MetricHandle {
    var hasCounted: Bool { value != 0 }

    func add(_ other: any MetricHandle) {}
}

extension Counter: MetricHandle {
    var hasCounted: Bool { value > 0 }

    func add(_ other: any MetricHandle) { if let other = other as? Counter { increment(by: other.value) } }
}

extension Histogram: MetricHandle {
    var hasCounted: Bool { counts.contains { $0 > 0 } }

    func add(_ other: any MetricHandle) {
        guard let other = other as? Histogram, other.bounds == bounds else { return }
        add(counts: other.counts, sum: other.sum)
    }
}

import Synchronization

/// Observations counted by size. Observing takes no lock and allocates nothing, unless an exemplar is kept.
package final class Histogram: Sendable {
    private final class Bucket: Sendable {
        let count = Atomic<UInt64>(0)
    }

    /// The upper bounds of the buckets, ascending; that of the last bucket, +Inf, is left out.
    package let bounds: [Double]
    private let buckets: [Bucket]
    private let sumBits = Atomic<UInt64>(Double(0).bitPattern)
    let exemplars: ExemplarSlots?

    init(bounds: [Double], carriesExemplars: Bool = false) {
        precondition(
            !bounds.isEmpty && bounds.count <= 32 && bounds.allSatisfy(\.isFinite),
            "1 to 32 finite bounds are needed."
        )
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "Bounds must ascend.")
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Bucket() }
        exemplars = carriesExemplars ? ExemplarSlots(count: bounds.count + 1) : nil
    }

    /// Counts one observation.
    ///
    /// Negative values count as 0, because a sum that falls would break rates; values that are not finite are dropped.
    package func observe(_ value: Double, exemplar: Exemplar? = nil) {
        guard value.isFinite else { return }
        let value = max(value, 0)
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        buckets[index].count.wrappingAdd(1, ordering: .relaxed)
        sumBits.addDouble(value)
        if let exemplar, let exemplars { exemplars.put(exemplar, value: value, at: index) }
    }

    /// Counts one observation of a duration, in seconds.
    package func observe(_ duration: Duration, exemplar: Exemplar? = nil) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18, exemplar: exemplar)
    }

    /// Observations per bucket, not cumulative; the last is +Inf.
    package var counts: [UInt64] { buckets.map { $0.count.load(ordering: .relaxed) } }

    package var sum: Double { Double(bitPattern: sumBits.load(ordering: .relaxed)) }

    func count(at index: Int) -> UInt64 { buckets[index].count.load(ordering: .relaxed) }
}

import Synchronization

/// Observations counted by size. Observing takes no lock and allocates nothing, unless an exemplar is kept.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets, ascending; that of the last bucket, +Inf, is left out.
    package let bounds: [Double]
    // Plain memory: counting references to the buckets took longer than counting. Bounds are written once, in init.
    private nonisolated(unsafe) let limits: UnsafeMutablePointer<Double>
    private nonisolated(unsafe) let buckets: UnsafeMutablePointer<Atomic<UInt64>>
    private let limitCount: Int
    private let sumBits = Atomic<UInt64>(Double(0).bitPattern)
    let exemplars: ExemplarSlots?

    init(bounds: [Double], carriesExemplars: Bool = false) {
        precondition(
            !bounds.isEmpty && bounds.count <= 32 && bounds.allSatisfy(\.isFinite),
            "1 to 32 finite bounds are needed."
        )
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "Bounds must ascend.")
        self.bounds = bounds
        limitCount = bounds.count
        limits = .allocate(capacity: bounds.count)
        buckets = .allocate(capacity: bounds.count + 1)
        for (index, bound) in bounds.enumerated() { (limits + index).initialize(to: bound) }
        for index in 0...bounds.count { (buckets + index).initialize(to: Atomic(0)) }
        exemplars = carriesExemplars ? ExemplarSlots(count: bounds.count + 1) : nil
    }

    deinit {
        limits.deallocate()
        buckets.deinitialize(count: limitCount + 1)
        buckets.deallocate()
    }

    /// Counts one observation.
    ///
    /// Negative values count as 0, because a sum that falls would break rates; values that are not finite are dropped.
    package func observe(_ value: Double) {
        _ = count(value)
    }

    /// Counts one observation and keeps its exemplar, if the family carries them.
    package func observe(_ value: Double, exemplar: Exemplar?) {
        guard let index = count(value), let exemplar, let exemplars else { return }
        exemplars.put(exemplar, value: max(value, 0), at: index)
    }

    /// The bucket that was counted in; `nil` for a value that was dropped.
    @inline(__always)
    private func count(_ value: Double) -> Int? {
        guard value.isFinite else { return nil }
        let value = max(value, 0)
        var index = 0
        while index < limitCount, value > limits[index] { index += 1 }
        buckets[index].wrappingAdd(1, ordering: .relaxed)
        sumBits.addDouble(value)
        return index
    }

    /// Counts one observation of a duration, in seconds.
    package func observe(_ duration: Duration, exemplar: Exemplar? = nil) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18, exemplar: exemplar)
    }

    /// Observations per bucket, not cumulative; the last is +Inf.
    package var counts: [UInt64] { (0...limitCount).map { count(at: $0) } }

    package var sum: Double { Double(bitPattern: sumBits.load(ordering: .relaxed)) }

    /// - Parameter counts: One for each bucket.
    func add(counts: [UInt64], sum: Double) {
        for (index, count) in counts.enumerated() { buckets[index].wrappingAdd(count, ordering: .relaxed) }
        sumBits.addDouble(sum)
    }

    func count(at index: Int) -> UInt64 { buckets[index].load(ordering: .relaxed) }
}

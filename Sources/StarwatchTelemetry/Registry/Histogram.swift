import Synchronization

/// Observations counted by size. Observing allocates nothing, unless an exemplar is kept, and takes a lock only for a
/// value of more than 17,179 and once in half a million of others.
///
/// The sum is exact to half a millionth for each observation.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets, ascending; that of the last bucket, +Inf, is left out.
    package let bounds: [Double]
    // Plain memory: counting references to the cells took longer than counting. Bounds are written once, in init.
    private nonisolated(unsafe) let limits: UnsafeMutablePointer<Double>
    private nonisolated(unsafe) let cells: UnsafeMutablePointer<Atomic<UInt64>>
    private let limitCount: Int
    private let totals: Mutex<Totals>
    let exemplars: ExemplarSlots?

    /// What was in the cells when they were last emptied, and what never fitted into one.
    private struct Totals {
        var counts: [UInt64]
        var millionths: UInt64 = 0
        var others = 0.0

        var sum: Double { Double(millionths) / Cell.perUnit + others }
    }

    /// A bucket's observations and their sum in one number, so that counting them is one atomic instruction.
    private enum Cell {
        static let perUnit = 1e6
        static let sumBits: UInt64 = 44
        static let one: UInt64 = 1 << sumBits
        static let sumMask = one - 1
        /// What is larger goes to the totals: half of a sum has room for 512 of the others.
        static let largest = Double(1 << 34) / perUnit
        /// Either number is half full.
        static let isHalfFull: UInt64 = 1 << 63 | 1 << (sumBits - 1)
    }

    init(bounds: [Double], carriesExemplars: Bool = false) {
        precondition(
            !bounds.isEmpty && bounds.count <= 32 && bounds.allSatisfy(\.isFinite),
            "1 to 32 finite bounds are needed."
        )
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "Bounds must ascend.")
        self.bounds = bounds
        limitCount = bounds.count
        limits = .allocate(capacity: bounds.count)
        cells = .allocate(capacity: bounds.count + 1)
        for (index, bound) in bounds.enumerated() { (limits + index).initialize(to: bound) }
        for index in 0...bounds.count { (cells + index).initialize(to: Atomic(0)) }
        totals = Mutex(Totals(counts: Array(repeating: 0, count: bounds.count + 1)))
        exemplars = carriesExemplars ? ExemplarSlots(count: bounds.count + 1) : nil
    }

    deinit {
        limits.deallocate()
        cells.deinitialize(count: limitCount + 1)
        cells.deallocate()
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
        guard value < Cell.largest else {
            totals.withLock { totals in
                totals.counts[index] += 1
                totals.others += value
            }
            return index
        }
        let cell = Cell.one | UInt64(truncatingIfNeeded: Int64(value * Cell.perUnit + 0.5))
        if cells[index].wrappingAdd(cell, ordering: .relaxed).oldValue & Cell.isHalfFull != 0 {
            totals.withLock { empty(index, into: &$0) }
        }
        return index
    }

    private func empty(_ index: Int, into totals: inout Totals) {
        let cell = cells[index].exchange(0, ordering: .relaxed)
        totals.counts[index] += cell >> Cell.sumBits
        totals.millionths += cell & Cell.sumMask
    }

    /// Counts one observation of a duration, in seconds.
    package func observe(_ duration: Duration, exemplar: Exemplar? = nil) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18, exemplar: exemplar)
    }

    /// Reads everything at one moment: observations per bucket, not cumulative, the last being +Inf, and their sum.
    ///
    /// Nothing is observed in `body`.
    func read<Result>(_ body: (_ counts: [UInt64], _ sum: Double) throws -> Result) rethrows -> Result {
        try totals.withLock { totals in
            for index in 0...limitCount { empty(index, into: &totals) }
            return try body(totals.counts, totals.sum)
        }
    }

    /// Observations per bucket, not cumulative; the last is +Inf.
    package var counts: [UInt64] { read { counts, _ in counts } }

    package var sum: Double { read { _, sum in sum } }

    /// - Parameter counts: One for each bucket.
    func add(counts: [UInt64], sum: Double) {
        totals.withLock { totals in
            for (index, count) in counts.enumerated() { totals.counts[index] += count }
            totals.others += sum
        }
    }
}

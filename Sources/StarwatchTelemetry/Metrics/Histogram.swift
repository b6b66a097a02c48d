import Synchronization

/// Observations counted in buckets.
///
/// An observation allocates memory only for an exemplar. It takes a lock only for a value above 17,179, and to empty a
/// bucket's cell, about once in half a million small observations.
///
/// The sum is exact to half a millionth per observation.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets in ascending order, without the last one, +Inf.
    package let bounds: [Double]
    // Plain memory, because reference counting of the cells took longer than the observation. `nonisolated(unsafe)`
    // because the limits are immutable after init and the cells are atomic.
    private nonisolated(unsafe) let limits: UnsafeMutablePointer<Double>
    private nonisolated(unsafe) let cells: UnsafeMutablePointer<Atomic<UInt64>>
    private let limitCount: Int
    private let totals: Mutex<Totals>
    let exemplars: ExemplarSlots?

    /// The former contents of emptied cells, and the observations too large for a cell.
    private struct Totals {
        var counts: [UInt64]
        var millionths: UInt64 = 0
        var others = 0.0

        var sum: Double { Double(millionths) / Cell.perUnit + others }
    }

    /// A bucket's count and sum packed into one number, so that an observation is one atomic instruction.
    private enum Cell {
        static let perUnit = 1e6
        static let sumBits: UInt64 = 44
        static let one: UInt64 = 1 << sumBits
        static let sumMask = one - 1
        /// Upper bound of a cell's observations. Larger ones go to the totals: half of a sum has room for 512 of this
        /// size.
        static let largest = Double(1 << 34) / perUnit
        /// The bits that show a half full count or sum.
        static let isHalfFull: UInt64 = 1 << 63 | 1 << (sumBits - 1)
    }

    init(bounds: [Double], carriesExemplars: Bool = false) {
        precondition(
            !bounds.isEmpty && bounds.count <= 32 && bounds.allSatisfy(\.isFinite),
            "A histogram needs 1 to 32 finite bounds."
        )
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "A histogram's bounds must ascend.")
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
    /// A negative value counts as 0, because a decreasing sum breaks rates. A value that is not finite is dropped.
    package func observe(_ value: Double) { _ = count(value) }

    /// Counts one observation and keeps its exemplar, if the family carries exemplars.
    package func observe(_ value: Double, exemplar: Exemplar?) {
        guard let index = count(value), let exemplar, let exemplars else { return }
        exemplars.put(exemplar, value: max(value, 0), at: index)
    }

    /// Counts one observation and returns its bucket; `nil` when the value was dropped.
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

    /// Reads a consistent state: the observations of each bucket, not cumulative, the last being +Inf; and their sum.
    ///
    /// `body` must not observe a value.
    func read<Result>(_ body: (_ counts: [UInt64], _ sum: Double) throws -> Result) rethrows -> Result {
        try totals.withLock { totals in
            for index in 0...limitCount { empty(index, into: &totals) }
            return try body(totals.counts, totals.sum)
        }
    }

    /// Observations of each bucket, not cumulative; the last is +Inf.
    package var counts: [UInt64] { read { counts, _ in counts } }

    package var sum: Double { read { _, sum in sum } }

    /// Adds the totals of another histogram with the same bounds.
    ///
    /// - Parameter counts: One count for each bucket.
    func add(counts: [UInt64], sum: Double) {
        totals.withLock { totals in
            for (index, count) in counts.enumerated() { totals.counts[index] += count }
            totals.others += sum
        }
    }
}

import Synchronization

/// Observations counted in buckets.
///
/// The sum is exact to half a millionth per observation.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets in ascending order, without the last one, +Inf.
    package let bounds: [Double]
    private let totals: Mutex<Totals>
    let exemplars: ExemplarSlots?

    private struct Totals {
        var counts: [UInt64]
        var millionths: UInt64 = 0
        /// The sum of observations from ``largestExact`` on, and of other histograms.
        var others = 0.0

        static let perUnit = 1e6
        static let largestExact = Double(1 << 34) / perUnit

        var sum: Double { Double(millionths) / Self.perUnit + others }
    }

    init(bounds: [Double], carriesExemplars: Bool = false) {
        precondition(
            !bounds.isEmpty && bounds.count <= 32 && bounds.allSatisfy(\.isFinite),
            "A histogram needs 1 to 32 finite bounds."
        )
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "A histogram's bounds must ascend.")
        self.bounds = bounds
        totals = Mutex(Totals(counts: Array(repeating: 0, count: bounds.count + 1)))
        exemplars = carriesExemplars ? ExemplarSlots(count: bounds.count + 1) : nil
    }

    /// Counts one observation, and keeps its exemplar if the family carries exemplars.
    ///
    /// A negative value counts as 0, because a decreasing sum breaks rates. A value that is not finite is dropped.
    package func observe(_ value: Double, exemplar: Exemplar? = nil) {
        guard value.isFinite else { return }
        let value = max(value, 0)
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        totals.withLock { totals in
            totals.counts[index] += 1
            if value < Totals.largestExact {
                totals.millionths += UInt64(value * Totals.perUnit + 0.5)
            } else {
                totals.others += value
            }
        }
        if let exemplar, let exemplars { exemplars.put(exemplar, value: value, at: index) }
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
        try totals.withLock { try body($0.counts, $0.sum) }
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

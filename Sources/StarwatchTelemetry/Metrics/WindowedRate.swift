import Synchronization

/// Events per second over the last 60 seconds, in bins of one second. The time is an argument.
package final class WindowedRate: Sendable {
    package static let windowSeconds = 60

    private let bins = Mutex(Array(repeating: (second: Int64.min, count: 0), count: windowSeconds))

    package init() {}

    /// Counts one event.
    ///
    /// - Parameter milliseconds: The time in milliseconds, on any clock that ``perSecond(atMilliseconds:)`` also uses.
    package func record(atMilliseconds milliseconds: Int64) {
        let second = milliseconds / 1000
        let index = Int(((second % 60) + 60) % 60)
        bins.withLock { bins in
            if bins[index].second != second { bins[index] = (second, 0) }
            bins[index].count += 1
        }
    }

    /// Continues from the events of another rate, before the first event of this one.
    package func countOn(from other: WindowedRate) {
        let known = other.bins.withLock { $0 }
        bins.withLock { $0 = known }
    }

    /// Returns the mean rate of the last 60 seconds, including the current one.
    package func perSecond(atMilliseconds milliseconds: Int64) -> Double {
        let second = milliseconds / 1000
        let count = bins.withLock { bins in
            bins.reduce(0) { $1.second > second - 60 && $1.second <= second ? $0 + $1.count : $0 }
        }
        return Double(count) / 60
    }
}

/// The changes that the cycles of a poll have left at the server, measured in the server's time.
package struct FetchBacklog: Sendable, Hashable {
    /// The end of the first cycle that left some, by the local clock.
    package let since: Timestamp
    /// The server's time that no cycle has seen; `nil` if it is not known.
    package private(set) var rest: Duration?
    private let first: Duration?
    private let begun: Duration
    private var last: Duration

    /// - Parameter boottime: The time by the clock that nobody sets.
    package init(rest: Duration?, since: Timestamp, at boottime: Duration) {
        (self.since, self.rest, first) = (since, rest, rest)
        (begun, last) = (boottime, boottime)
    }

    /// Takes what a later cycle has left.
    package mutating func move(to rest: Duration?, at boottime: Duration) { (self.rest, last) = (rest, boottime) }

    /// The time until nothing is left, at the pace since the first cycle; `nil` if it does not become less, or after one
    /// cycle.
    package var timeLeft: Duration? {
        guard let rest, let first, rest < first, last > begun else { return nil }
        return .seconds(rest.inSeconds / ((first - rest).inSeconds / (last - begun).inSeconds))
    }
}

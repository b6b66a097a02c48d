/// The gaps between the changes of one poll. They tell whether it finds nothing for unusually long.
package struct ChangeRhythm: Sendable, Hashable {
    /// A time without changes, of a poll that succeeds.
    package struct Silence: Sendable, Hashable {
        package let length: Duration
        /// The longest gap before it.
        package let longestGap: Duration

        /// The length as a multiple of the longest gap.
        package var ratio: Double { length.inSeconds / max(longestGap.inSeconds, 1) }

        /// The multiple beyond which a silence is unusual.
        package static let factor = 20.0

        package var isUnusual: Bool { ratio > Self.factor }

        package init(length: Duration, longestGap: Duration) { (self.length, self.longestGap) = (length, longestGap) }
    }

    /// The time before the last change in which gaps count.
    package static let window = Duration.seconds(30 * 86_400)
    /// The number of changes, and the time from the first to the last, below which nothing is usual yet.
    package static let fewest = 20
    package static let shortest = Duration.seconds(7 * 86_400)

    private struct Gap: Sendable, Hashable {
        let end: Timestamp
        let length: Duration
    }

    private var first: Timestamp?
    package private(set) var last: Timestamp?
    private var count = 0
    /// The gaps of the window that no later one reaches, so that the longest is the first.
    private var gaps: [Gap] = []

    package init() {}

    /// Notes a cycle that found changes. One that is not after the last one is ignored: the clock was set.
    package mutating func note(_ time: Timestamp) {
        if let last {
            guard time > last else { return }
            let gap = Gap(end: time, length: time - last)
            while let former = gaps.last, former.length <= gap.length { gaps.removeLast() }
            gaps.append(gap)
            gaps.removeAll { $0.end < time - Self.window }
        }
        (first, last, count) = (first ?? time, time, count + 1)
    }

    /// The silence from the last change to a later success; `nil` if too few changes are known.
    package func silence(until success: Timestamp) -> Silence? {
        guard let first, let last, let gap = gaps.first, count >= Self.fewest, last - first >= Self.shortest,
            success >= last
        else { return nil }
        return Silence(length: success - last, longestGap: gap.length)
    }
}

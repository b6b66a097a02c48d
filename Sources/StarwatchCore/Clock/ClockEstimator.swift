/// Estimates the offset between the local clock and the server's from the answers to ordinary requests.
///
/// Each reading bounds the offset: the server read its clock after the request left and before the answer arrived. The
/// true offset lies in the intersection of all recent bounds. Fast round trips and second boundaries in `Date` narrow
/// it. A reading that no offset fits is put aside until a second one agrees with it: then a clock was set, and the estimator
/// starts again from the two. So one wrong answer costs nothing.
public struct ClockEstimator: Sendable, Hashable {
    /// An estimate of the offset.
    public struct Estimate: Sendable, Hashable {
        /// Server time − local time: positive when the server is ahead.
        public let offset: Duration
        /// The largest possible error of the offset.
        public let uncertainty: Duration
        /// The local time of the newest reading used.
        public let sampledAt: Timestamp

        /// The server's time at a local time.
        public func serverTime(at local: Timestamp) -> Timestamp { local + offset }
    }

    /// The longest round trip of a usable reading: 2 s.
    public static let longestRoundTrip = Duration.seconds(2)

    /// The number of readings kept.
    private static let capacity = 16
    /// The times of readings kept, in milliseconds from the newest. One that is much later precedes a step back of the local clock.
    /// A slightly later one belongs to a request answered at the same time.
    private static let kept: ClosedRange<Int64> = -3_600_000...5000

    private struct Bounds: Hashable {
        var low: Int64
        var high: Int64
        var at: Timestamp

        func widened(until now: Timestamp) -> (low: Int64, high: Int64) {
            let age = max(0, now.milliseconds - at.milliseconds)
            // Assumes that two clocks drift apart by at most 100 µs per second.
            let drift = age / 10_000 + (age > 0 ? 1 : 0)
            return (low - drift, high + drift)
        }
    }

    private var recent: [Bounds] = []
    /// The last reading that did not fit; `nil` if the last one did.
    private var doubted: Bounds?
    /// The number of times when no offset fitted all readings and the estimate started again.
    public private(set) var restarts = 0

    public init() {}

    /// The estimate; `nil` before the first usable reading.
    public var estimate: Estimate? { recent.last.flatMap { estimate(at: $0.at) } }

    /// The estimate as of `now`. The uncertainty grows with the age of the readings.
    public func estimate(at now: Timestamp) -> Estimate? {
        guard let newest = recent.last, let (low, high) = Self.intersection(recent, at: max(now, newest.at)) else {
            return nil
        }
        let middle = low + (high - low) / 2
        return Estimate(
            offset: .milliseconds(middle),
            uncertainty: .milliseconds(max(high - middle, middle - low)),
            sampledAt: newest.at
        )
    }

    /// Adds the reading of an answer.
    @discardableResult
    public mutating func add(_ reading: ServerClockReading) -> ClockSampleResult {
        switch reading {
        case .sample(let sample): add(sample)
        case .rejected(let result, _): result
        }
    }

    /// Adds a reading unless its round trip was too long.
    @discardableResult
    public mutating func add(_ sample: ClockSample) -> ClockSampleResult {
        guard sample.roundTrip >= .zero, sample.resolution >= .zero, sample.isPlausible else { return .failed }
        guard sample.roundTrip <= Self.longestRoundTrip else { return .ignoredRTT }
        // All times are rounded down to milliseconds; hence one more below.
        let bounds = Bounds(
            low: sample.serverTime.milliseconds - sample.receivedAt.milliseconds - 1,
            high: sample.serverTime.milliseconds + max(1, sample.resolution.wholeMilliseconds)
                - sample.sentAt.milliseconds,
            at: sample.receivedAt
        )
        let last = recent.last
        recent.removeAll { !Self.kept.contains($0.at.milliseconds &- bounds.at.milliseconds) }
        // However old, it is what a jump is measured by.
        if recent.isEmpty, let last, last.at - bounds.at <= .seconds(5) { recent = [last] }
        if !recent.isEmpty, Self.intersection(recent, with: bounds, at: bounds.at) == nil {
            guard let agreeing = doubted, agreeing.at - bounds.at <= .seconds(5),
                Self.intersection([agreeing], with: bounds, at: max(agreeing.at, bounds.at)) != nil
            else {
                doubted = bounds
                return .ignoredJump
            }
            recent = [agreeing]
            restarts += 1
        }
        doubted = nil
        recent.append(bounds)
        if recent.count > Self.capacity { dropWidest() }
        return .used
    }

    /// Adjusts the readings after the local clock was set, which moves the offset the other way.
    ///
    /// - Parameters:
    ///   - step: The size of the step; positive when the clock was set forward.
    ///   - uncertainty: The largest possible error of `step`.
    public mutating func localClockWasSet(by step: Duration, uncertainty: Duration) {
        let moved = step.wholeMilliseconds
        let doubt = uncertainty.wholeMilliseconds
        for index in recent.indices {
            recent[index].low -= moved + doubt
            recent[index].high -= moved - doubt
            recent[index].at = recent[index].at + .milliseconds(moved)
        }
        // A clock that was set explains it.
        doubted = nil
    }

    /// Keeps the narrowest bounds, which come from the shortest round trips, and always the newest.
    private mutating func dropWidest() {
        let now = recent[recent.count - 1].at
        var widest: (index: Int, width: Int64)?
        for index in recent.indices.dropLast() {
            let (low, high) = recent[index].widened(until: now)
            if high - low > widest?.width ?? .min { widest = (index, high - low) }
        }
        if let widest { recent.remove(at: widest.index) }
    }

    private static func intersection(
        _ all: [Bounds],
        with other: Bounds? = nil,
        at now: Timestamp
    ) -> (low: Int64, high: Int64)? {
        var (low, high) = other?.widened(until: now) ?? (.min, .max)
        for bounds in all {
            let widened = bounds.widened(until: now)
            low = max(low, widened.low)
            high = min(high, widened.high)
        }
        return low <= high ? (low, high) : nil
    }
}

/// The offset between the server's clock and the local one, as far as the agent follows it.
///
/// A server can send any time. The skew is reported as it was measured, but tokens and stored times follow it only up to
/// ``longest``, and no age depends on it.
public enum ClockOffset {
    /// The largest offset that the agent follows: 24 h. A clock that shows local time as UTC is off by at most 14 h. A
    /// hostile server could otherwise get a token for a year to come.
    public static let longest = Duration.seconds(86_400)

    /// Limits an offset to ``longest`` in either direction.
    public static func bounded(_ offset: Duration) -> Duration { min(max(offset, .zero - longest), longest) }
}

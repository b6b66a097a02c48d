/// How far the local clock is from the server's, from the answers to ordinary requests.
///
/// Each reading bounds the offset: the server showed its time after the request went out and before the answer came.
/// The true offset lies in the intersection of all recent bounds, which the fastest round trips and the turns of the
/// second in `Date` make narrow. When no offset fits them all, a clock was set, and the newest reading starts afresh.
public struct ClockEstimator: Sendable, Hashable {
    /// An estimate of the offset.
    public struct Estimate: Sendable, Hashable {
        /// Server time − local time: positive when the server is ahead.
        public let offset: Duration
        /// The offset is at most this far off.
        public let uncertainty: Duration
        /// The local time of the newest reading used.
        public let sampledAt: Timestamp

        /// The server's time at a local time.
        public func serverTime(at local: Timestamp) -> Timestamp { local + offset }
    }

    /// Readings that took longer are ignored: 2 s.
    public static let longestRoundTrip = Duration.seconds(2)

    /// The most readings that are kept, and for how long.
    public let capacity: Int
    public let window: Duration

    private struct Bounds: Hashable {
        var low: Int64
        var high: Int64
        var at: Timestamp

        func widened(until now: Timestamp) -> (low: Int64, high: Int64) {
            let age = max(0, now.milliseconds - at.milliseconds)
            // Two clocks are taken to drift apart by 100 µs a second.
            let drift = age / 10_000 + (age > 0 ? 1 : 0)
            return (low - drift, high + drift)
        }
    }

    private var recent: [Bounds] = []
    /// How often no offset fitted all readings, so that the newest started afresh.
    public private(set) var restarts = 0

    public init(capacity: Int = 16, window: Duration = .seconds(3600)) {
        self.capacity = max(1, capacity)
        self.window = window
    }

    /// The estimate; `nil` before the first reading that was used.
    public var estimate: Estimate? {
        recent.last.flatMap { estimate(at: $0.at) }
    }

    /// The estimate as of `now`: the uncertainty grows with the time since the readings.
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

    /// Adds what was read from an answer.
    @discardableResult
    public mutating func add(_ reading: ServerClockReading) -> ClockSampleResult {
        switch reading {
        case .sample(let sample): add(sample)
        case .rejected(let result, _): result
        }
    }

    /// Adds a reading, unless it took too long.
    @discardableResult
    public mutating func add(_ sample: ClockSample) -> ClockSampleResult {
        guard sample.roundTrip >= .zero, sample.resolution >= .zero else { return .failed }
        guard sample.roundTrip <= Self.longestRoundTrip else { return .ignoredRTT }
        // All times are whole milliseconds, rounded down; hence one more below.
        let bounds = Bounds(
            low: sample.serverTime.milliseconds - sample.receivedAt.milliseconds - 1,
            high: sample.serverTime.milliseconds + max(1, sample.resolution.wholeMilliseconds)
                - sample.sentAt.milliseconds,
            at: sample.receivedAt
        )
        // A reading much "later" than this one was made before the local clock was set back; one a little later is of
        // a request that was answered at the same time.
        recent.removeAll { $0.at - bounds.at > .seconds(5) || bounds.at - $0.at > window }
        recent.append(bounds)
        if recent.count > capacity { dropWidest() }
        if Self.intersection(recent, at: bounds.at) == nil {
            recent = [bounds]
            restarts += 1
        }
        return .used
    }

    /// Goes on after the local clock was set, which moves the offset by as much the other way.
    ///
    /// - Parameters:
    ///   - step: Positive for a clock that was set forward.
    ///   - uncertainty: How well the step is known.
    public mutating func localClockWasSet(by step: Duration, uncertainty: Duration) {
        let moved = step.wholeMilliseconds
        let doubt = uncertainty.wholeMilliseconds
        for index in recent.indices {
            recent[index].low -= moved + doubt
            recent[index].high -= moved - doubt
            recent[index].at = recent[index].at + .milliseconds(moved)
        }
    }

    /// Keeps the narrowest, which is what a minimum of round trips is; the newest always stays.
    private mutating func dropWidest() {
        let now = recent[recent.count - 1].at
        let widest = recent.indices.dropLast().max { a, b in
            width(recent[a], now) < width(recent[b], now)
        }
        if let widest { recent.remove(at: widest) }
    }

    private func width(_ bounds: Bounds, _ now: Timestamp) -> Int64 {
        let (low, high) = bounds.widened(until: now)
        return high - low
    }

    private static func intersection(_ all: [Bounds], at now: Timestamp) -> (low: Int64, high: Int64)? {
        var low = Int64.min
        var high = Int64.max
        for bounds in all {
            let widened = bounds.widened(until: now)
            low = max(low, widened.low)
            high = min(high, widened.high)
        }
        return low <= high ? (low, high) : nil
    }
}

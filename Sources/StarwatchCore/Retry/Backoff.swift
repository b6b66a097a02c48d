/// A delay that doubles with every consecutive failure, up to a cap.
public struct Backoff: Sendable, Hashable {
    public var base: Duration
    public var cap: Duration
    /// The jitter as a fraction of the delay.
    public var jitter: ClosedRange<Double>

    public init(base: Duration, cap: Duration, jitter: ClosedRange<Double> = 0...0) {
        self.base = base
        self.cap = cap
        self.jitter = jitter
    }

    /// 1, 2, 4 … 60 s ±25 %, for a batch of acknowledgements.
    public static let acknowledgement = Backoff(base: .seconds(1), cap: .seconds(60), jitter: -0.25...0.25)
    /// 1, 2, 4 … 60 s ±25 %, for a notification that a sink rejected.
    public static let rejectedDelivery = Backoff(base: .seconds(1), cap: .seconds(60), jitter: -0.25...0.25)
    /// 1, 2, 4 … 30 s, for a token that cannot be had (R-RTY-11).
    public static let token = Backoff(base: .seconds(1), cap: .seconds(30))

    /// The delay after `failures` consecutive failures, at least one. Never longer than the cap.
    ///
    /// - Parameter random: A random number in `0 ..< 1`; 0.5 is the middle of the jitter.
    public func delay(afterFailures failures: Int, random: Double = 0.5) -> Duration {
        var delay = base
        for _ in 1..<max(failures, 1) {
            if delay >= cap { break }
            delay *= 2
        }
        return min(cap, min(cap, delay).jittered(by: jitter, random: random))
    }
}

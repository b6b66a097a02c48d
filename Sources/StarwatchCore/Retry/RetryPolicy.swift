/// How often and how fast a request is tried again after one class of failure.
public struct RetryPolicy: Sendable, Hashable {
    /// Where the delay before the next try comes from.
    public enum Delay: Sendable, Hashable {
        /// No delay.
        case none
        /// The given base, doubled with every try.
        case exponential(Duration)
        /// The given base, as often as tries were made.
        case linear(Duration)
        /// What the server asked for; `otherwise` where it asked for nothing.
        case serverDecides(otherwise: Duration)
    }

    /// Tries in all, the first included; at least 1.
    public var attempts: Int
    public var delay: Delay
    /// The jitter as shares of the delay: `-0.25...0.25` is ±25 %.
    public var jitter: ClosedRange<Double>

    public init(attempts: Int, delay: Delay, jitter: ClosedRange<Double> = 0...0) {
        self.attempts = max(1, attempts)
        self.delay = delay
        self.jitter = jitter
    }

    /// The policy of each class of failure (semantics: retry, throttle, circuit).
    public static func standard(for failure: FailureClass) -> RetryPolicy {
        switch failure {
        case .network, .timeout:
            RetryPolicy(attempts: 3, delay: .exponential(.seconds(1)), jitter: -0.25...0.25)
        case .rateLimited, .unavailable:
            // Never earlier than asked (C-068).
            RetryPolicy(attempts: 5, delay: .serverDecides(otherwise: .seconds(60)), jitter: 0...0.1)
        case .serverError:
            RetryPolicy(attempts: 3, delay: .exponential(.seconds(2)), jitter: -0.5...0.5)
        case .unauthenticated:
            RetryPolicy(attempts: 2, delay: .none)
        case .malformed, .refused, .cancelled:
            RetryPolicy(attempts: 1, delay: .none)
        }
    }

    /// How long the server wants to be left alone after `failure`, without jitter; `nil` when it did not ask.
    ///
    /// A 429 without `Retry-After` asks for 60 s. The wait binds every request to that server.
    public static func serverWait(for failure: APIFailure) -> Duration? {
        if let asked = failure.retryAfter { return max(.zero, asked) }
        guard failure.failureClass == .rateLimited || failure.failureClass == .unavailable else { return nil }
        return .seconds(60)
    }

    /// The delay before try number `attempt + 1`, jitter included, at least what the server asked for.
    ///
    /// - Parameters:
    ///   - attempt: Tries already made, at least 1.
    ///   - random: A random number in `0 ..< 1`.
    public func delay(after failure: APIFailure, attempt: Int, random: Double) -> Duration {
        let asked = Self.serverWait(for: failure)
        switch delay {
        case .none:
            return asked ?? .zero
        case .exponential(let base):
            let doubled = base * Double(1 << min(max(attempt - 1, 0), 30))
            return max(asked ?? .zero, doubled.jittered(by: jitter, random: random))
        case .linear(let base):
            return max(asked ?? .zero, (base * max(attempt, 1)).jittered(by: jitter, random: random))
        case .serverDecides(let otherwise):
            return (asked ?? otherwise).jittered(by: 0...max(0, jitter.upperBound), random: random)
        }
    }
}

extension Duration {
    /// This duration, changed by a share of itself that `random` (in `0 ..< 1`) picks from `range`.
    func jittered(by range: ClosedRange<Double>, random: Double) -> Duration {
        let share = range.lowerBound + (range.upperBound - range.lowerBound) * min(max(random, 0), 1)
        return max(.zero, self + self * share)
    }
}

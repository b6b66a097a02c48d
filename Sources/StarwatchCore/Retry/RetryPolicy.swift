/// The retries of one logical request.
package enum RequestRetries: Sendable {
    /// Retries by the policy of each failure class. A host's policy replaces it, except for a rejected token.
    case policy(RetryPolicy?)
    /// Retries with the waits of each failure class and this number of attempts, except for a rejected token.
    case attempts(Int)
    /// Retries only with a new token, after a rejected one. The caller schedules its own retries.
    case tokenOnly
    case never
}

/// The number of attempts and the delays after one class of failure.
public struct RetryPolicy: Sendable, Hashable {
    /// The source of the delay before the next attempt.
    public enum Delay: Sendable, Hashable {
        /// No delay.
        case none
        /// The same delay before every attempt.
        case fixed(Duration)
        /// The given base, doubled with every attempt.
        case exponential(Duration)
        /// The given base times the number of attempts.
        case linear(Duration)
        /// The wait that the server asked for; `otherwise` if it asked for none.
        case serverDecides(otherwise: Duration)
    }

    /// The number of attempts including the first; at least 1.
    public var attempts: Int
    public var delay: Delay
    /// The jitter as a fraction of the delay: `-0.25...0.25` is ±25 %.
    public var jitter: ClosedRange<Double>
    /// The longest delay of the policy itself, with jitter; `nil`, the default: none. It never shortens the wait that a
    /// server asks for, so there is no setting to ignore that wait either.
    public var maxDelay: Duration?
    /// The longest wait asked for by the server that an attempt waits out. A longer one ends the request, and the next
    /// one waits. By default ``RetryDecision/longestInlineWait``.
    public var retryAfterMax = RetryDecision.longestInlineWait

    public init(attempts: Int, delay: Delay, jitter: ClosedRange<Double> = 0...0) {
        self.attempts = max(1, attempts)
        self.delay = delay
        self.jitter = jitter
    }

    /// The standard policy for each class of failure.
    public static func standard(for failure: FailureClass) -> RetryPolicy {
        switch failure {
        case .network, .timeout:
            RetryPolicy(attempts: 3, delay: .exponential(.seconds(1)), jitter: -0.25...0.25)
        case .rateLimited, .unavailable:
            // Never earlier than the server allows.
            RetryPolicy(attempts: 5, delay: .serverDecides(otherwise: .seconds(60)), jitter: 0...0.1)
        case .serverError:
            RetryPolicy(attempts: 3, delay: .exponential(.seconds(2)), jitter: -0.5...0.5)
        case .unauthenticated:
            RetryPolicy(attempts: 2, delay: .none)
        case .malformed, .refused, .cancelled:
            RetryPolicy(attempts: 1, delay: .none)
        }
    }

    /// The longest wait that a server gets: 7 days. One mistaken or hostile `Retry-After` could otherwise end polling for
    /// years.
    public static let longestServerWait = Duration.seconds(7 * 86_400)

    /// The wait that the server asks for with `failure`, without jitter, at most ``longestServerWait``; `nil` if it asks
    /// for none.
    ///
    /// A 429 without `Retry-After` means 60 s. The wait applies to every request to that server.
    public static func serverWait(for failure: APIFailure) -> Duration? {
        if let asked = failure.retryAfter { return min(max(.zero, asked), longestServerWait) }
        guard failure.failureClass == .rateLimited || failure.failureClass == .unavailable else { return nil }
        return .seconds(60)
    }

    /// The delay before attempt `attempt + 1`, with jitter, at least the wait that the server asked for.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far, at least 1.
    ///   - random: A random number in `0 ..< 1`.
    public func delay(after failure: APIFailure, attempt: Int, random: Double) -> Duration {
        let asked = Self.serverWait(for: failure)
        switch delay {
        case .none:
            return asked ?? .zero
        case .fixed(let delay):
            return max(asked ?? .zero, own(delay, random))
        case .exponential(let base):
            return max(asked ?? .zero, own(base * Double(1 << min(max(attempt - 1, 0), 30)), random))
        case .linear(let base):
            return max(asked ?? .zero, own(base * max(attempt, 1), random))
        case .serverDecides(let otherwise):
            return (asked ?? otherwise).jittered(by: 0...max(0, jitter.upperBound), random: random)
        }
    }

    /// A delay of the policy itself, with jitter and limit.
    private func own(_ delay: Duration, _ random: Double) -> Duration {
        let delay = delay.jittered(by: jitter, random: random)
        return maxDelay.map { min(max(.zero, $0), delay) } ?? delay
    }
}

extension Duration {
    /// This duration changed by a fraction of itself; `random` in `0 ..< 1` selects the fraction from `range`.
    func jittered(by range: ClosedRange<Double>, random: Double) -> Duration {
        let share = range.lowerBound + (range.upperBound - range.lowerBound) * min(max(random, 0), 1)
        return max(.zero, self + self * share)
    }
}

/// A delay that doubles with every consecutive failure, up to a cap.
public struct Backoff: Sendable, Hashable {
    public var base: Duration
    public var cap: Duration
    /// The jitter as a fraction of the delay.
    public var jitter: ClosedRange<Double>

    public init(base: Duration, cap: Duration, jitter: ClosedRange<Double> = 0...0) {
        (self.base, self.cap, self.jitter) = (base, cap, jitter)
    }

    /// 1, 2, 4 … 60 s ±25 %, for a batch of acknowledgements.
    public static let acknowledgement = Backoff(base: .seconds(1), cap: .seconds(60), jitter: -0.25...0.25)
    /// 1, 2, 4 … 60 s ±25 %, for a notification that a sink rejected.
    public static let rejectedDelivery = Backoff(base: .seconds(1), cap: .seconds(60), jitter: -0.25...0.25)
    /// 1, 2, 4 … 30 s, for a token that cannot be had.
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

/// The reaction to a failed request.
public enum RetryDecision: Sendable, Hashable {
    /// Wait, then retry the same request.
    case retry(after: Duration, reason: RetryReason)
    /// Get a new token and retry at once.
    case renewTokenAndRetry
    /// The wait is too long for the cycle. End it as deferred and respect the wait.
    case deferUntil(wait: Duration)
    /// End the cycle. `exhausted` if the allowed attempts were used up, as opposed to a failure without retries.
    case giveUp(exhausted: Bool)

    /// The longest wait inside a cycle: 120 s.
    public static let longestInlineWait = Duration.seconds(120)

    /// The shortest time between two cycles after the server rejected a new token: 30 s.
    public static let waitAfterRefusedToken = Duration.seconds(30)

    /// Decides by the class of `failure`.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far, at least 1.
    ///   - random: A random number in `0 ..< 1`.
    ///   - tokenRenewed: Whether the failed attempt used a token renewed after a rejection. `nil` assumes that the
    ///     first attempt was rejected, so that a second rejection ends the cycle.
    ///   - policy: Replaces ``RetryPolicy/standard(for:)``.
    public static func decide(
        failure: APIFailure,
        attempt: Int,
        random: Double,
        tokenRenewed: Bool? = nil,
        policy: RetryPolicy? = nil
    ) -> RetryDecision {
        let policy = policy ?? .standard(for: failure.failureClass)
        guard let reason = RetryReason(failure.failureClass), failure.result != .tooLarge else {
            return .giveUp(exhausted: false)
        }
        if reason == .unauthenticated {
            let renewed = tokenRenewed ?? (attempt >= 2)
            return renewed || policy.attempts < 2 ? .giveUp(exhausted: true) : .renewTokenAndRetry
        }
        let wait = policy.delay(after: failure, attempt: attempt, random: random)
        if let asked = RetryPolicy.serverWait(for: failure), asked > policy.retryAfterMax {
            return .deferUntil(wait: wait)
        }
        if attempt >= policy.attempts { return .giveUp(exhausted: true) }
        return .retry(after: wait, reason: reason)
    }
}

/// The reason for a retry, a class of failures; the `reason` label of the retry metrics.
public enum RetryReason: String, Sendable, CaseIterable {
    case network
    case timeout
    case rateLimited = "rate_limited"
    case unavailable
    case serverError = "server_error"
    case unauthenticated

    /// `nil` for failures that are never retried.
    public init?(_ failure: FailureClass) { self.init(rawValue: failure.rawValue) }
}

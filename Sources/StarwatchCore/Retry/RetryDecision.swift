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

    /// The longest wait inside a cycle: 120 s (C-087).
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

/// The reason for a retry; the `reason` label of the retry metrics.
public enum RetryReason: String, Sendable, CaseIterable {
    case network
    case timeout
    case rateLimited = "rate_limited"
    case unavailable
    case serverError = "server_error"
    case unauthenticated

    /// `nil` for failures that are never retried.
    public init?(_ failure: FailureClass) {
        switch failure {
        case .network: self = .network
        case .timeout: self = .timeout
        case .rateLimited: self = .rateLimited
        case .unavailable: self = .unavailable
        case .serverError: self = .serverError
        case .unauthenticated: self = .unauthenticated
        case .malformed, .refused, .cancelled: return nil
        }
    }
}

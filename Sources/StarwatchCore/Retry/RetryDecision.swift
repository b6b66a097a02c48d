/// What to do after a failed request.
public enum RetryDecision: Sendable, Hashable {
    /// Wait and try the identical request again.
    case retry(after: Duration, reason: RetryReason)
    /// Get a new token and try again at once.
    case renewTokenAndRetry
    /// The wait is too long to sit out: end the cycle as deferred and keep the promise.
    case deferUntil(wait: Duration)
    /// End the cycle. `exhausted` when tries were made and used up, not when none was to be had.
    case giveUp(exhausted: Bool)

    /// The longest wait inside a cycle: 120 s (C-087).
    public static let longestInlineWait = Duration.seconds(120)

    /// How soon a cycle may follow one that ended because the server refused a new token: 30 s.
    public static let waitAfterRefusedToken = Duration.seconds(30)

    /// Decides by the class of `failure`.
    ///
    /// - Parameters:
    ///   - attempt: Tries already made, at least 1.
    ///   - random: A random number in `0 ..< 1`.
    ///   - tokenRenewed: Whether the failed try had a token made for it after a refusal. `nil`: as if the first of
    ///     the tries was refused, so that the second refusal ends the cycle.
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
        if let asked = RetryPolicy.serverWait(for: failure), asked > longestInlineWait {
            return .deferUntil(wait: wait)
        }
        if attempt >= policy.attempts { return .giveUp(exhausted: true) }
        return .retry(after: wait, reason: reason)
    }
}

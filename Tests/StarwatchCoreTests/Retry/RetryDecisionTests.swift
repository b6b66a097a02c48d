import StarwatchCore
import Testing

@Suite struct RetryDecisionTests {
    private func decide(
        _ failureClass: FailureClass,
        attempt: Int,
        random: Double = 0.5,
        retryAfter: Duration? = nil,
        result: RequestResult = .serverError
    ) -> RetryDecision {
        .decide(
            failure: failure(failureClass, result: result, retryAfter: retryAfter),
            attempt: attempt,
            random: random
        )
    }

    @Test func linearDelaysGrowByTheirBaseAndRespectTheServer() {
        let policy = RetryPolicy(attempts: 9, delay: .linear(.seconds(2)), jitter: -0.5...0.5)
        let failure = APIFailure(result: .serverError, failureClass: .serverError, reason: "It failed.")
        for (attempt, wait) in [(0, 2), (1, 2), (2, 4), (5, 10)] {
            #expect(policy.delay(after: failure, attempt: attempt, random: 0.5) == .seconds(wait))
        }
        #expect(policy.delay(after: failure, attempt: 2, random: 0) == .seconds(2))
        let asking = APIFailure(
            result: .serverError,
            failureClass: .unavailable,
            retryAfter: .seconds(30),
            reason: "It is busy."
        )
        #expect(policy.delay(after: asking, attempt: 2, random: 0.5) == .seconds(30))
    }

    @Test func ownDelaysAreCappedButNeverTheServersWait() {
        var policy = RetryPolicy(attempts: 9, delay: .exponential(.seconds(1)), jitter: -0.5...0.5)
        policy.maxDelay = .seconds(5)
        let failure = APIFailure(result: .serverError, failureClass: .serverError, reason: "It failed.")
        #expect(policy.delay(after: failure, attempt: 2, random: 0.5) == .seconds(2))
        #expect(policy.delay(after: failure, attempt: 9, random: 1) == .seconds(5))
        policy.delay = .fixed(.seconds(3))
        #expect(
            [1, 2, 9].map { policy.delay(after: failure, attempt: $0, random: 0.5) }
                == Array(repeating: .seconds(3), count: 3)
        )
        let asking = APIFailure(
            result: .rateLimited,
            failureClass: .rateLimited,
            retryAfter: .seconds(30),
            reason: "It is busy."
        )
        #expect(policy.delay(after: asking, attempt: 1, random: 0.5) == .seconds(30))
    }

    @Test func aWaitOverThePolicysLimitEndsTheRequest() {
        var policy = RetryPolicy(attempts: 9, delay: .fixed(.seconds(1)))
        let asking = APIFailure(
            result: .rateLimited,
            failureClass: .rateLimited,
            retryAfter: .seconds(30),
            reason: "It is busy."
        )
        let retry = RetryDecision.decide(failure: asking, attempt: 1, random: 0.5, policy: policy)
        #expect(retry == .retry(after: .seconds(30), reason: .rateLimited))
        policy.retryAfterMax = .seconds(29)
        let end = RetryDecision.decide(failure: asking, attempt: 1, random: 0.5, policy: policy)
        #expect(end == .deferUntil(wait: .seconds(30)))
    }

    @Test(
        arguments: [
            (.network, 1, 1), (.network, 2, 2), (.timeout, 1, 1), (.timeout, 2, 2), (.serverError, 1, 2),
            (.serverError, 2, 4),
        ] as [(FailureClass, Int, Int64)]
    )
    func waitsDouble(failureClass: FailureClass, attempt: Int, seconds: Int64) throws {
        let reason = try #require(RetryReason(failureClass))
        #expect(decide(failureClass, attempt: attempt) == .retry(after: .seconds(seconds), reason: reason))
    }

    @Test(
        arguments: [
            (.network, 3), (.timeout, 3), (.serverError, 3), (.rateLimited, 5), (.unavailable, 5),
            (.unauthenticated, 2),
        ] as [(FailureClass, Int)]
    )
    func attemptsAreLimited(failureClass: FailureClass, attempts: Int) {
        #expect(RetryPolicy.standard(for: failureClass).attempts == attempts)
        #expect(decide(failureClass, attempt: attempts, retryAfter: .seconds(1)) == .giveUp(exhausted: true))
        #expect(decide(failureClass, attempt: attempts - 1, retryAfter: .seconds(1)) != .giveUp(exhausted: true))
    }

    @Test(arguments: [FailureClass.malformed, .refused, .cancelled])
    func someFailuresAreNotRetried(failureClass: FailureClass) {
        #expect(decide(failureClass, attempt: 1) == .giveUp(exhausted: false))
        #expect(RetryReason(failureClass) == nil)
    }

    @Test func tooLargeAnswersAreNotRetried() {
        #expect(decide(.network, attempt: 1, result: .tooLarge) == .giveUp(exhausted: false))
    }

    @Test func aRejectedTokenIsRenewedOnce() {
        #expect(decide(.unauthenticated, attempt: 1) == .renewTokenAndRetry)
        #expect(decide(.unauthenticated, attempt: 2) == .giveUp(exhausted: true))
        let refused = failure(.unauthenticated)
        // The attempt before failed for another reason, so the token has not been renewed.
        #expect(
            RetryDecision.decide(failure: refused, attempt: 2, random: 0, tokenRenewed: false) == .renewTokenAndRetry
        )
        #expect(
            RetryDecision.decide(failure: refused, attempt: 1, random: 0, tokenRenewed: true)
                == .giveUp(exhausted: true)
        )
    }

    @Test func rateLimitsWithoutRetryAfterWaitAMinute() {
        #expect(decide(.rateLimited, attempt: 1, random: 0) == .retry(after: .seconds(60), reason: .rateLimited))
    }

    @Test func waitsOverTwoMinutesDefer() {
        #expect(
            decide(.rateLimited, attempt: 1, random: 0, retryAfter: .seconds(120))
                == .retry(after: .seconds(120), reason: .rateLimited)
        )
        #expect(
            decide(.rateLimited, attempt: 1, random: 0, retryAfter: .seconds(121)) == .deferUntil(wait: .seconds(121))
        )
        #expect(
            decide(.unavailable, attempt: 5, random: 0, retryAfter: .seconds(3600)) == .deferUntil(wait: .seconds(3600))
        )
        // 120 s with jitter still counts as a wait of 120 s.
        #expect(
            decide(.unavailable, attempt: 1, random: 0.99, retryAfter: .seconds(120))
                != .deferUntil(wait: .seconds(120))
        )
    }

    @Test func retriesAreNeverEarlierThanTheServerAllows() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<2000 {
            let asked = Duration.milliseconds(Int64.random(in: -1000...120_000, using: &random))
            let failureClass = [FailureClass.rateLimited, .unavailable, .serverError, .network].randomElement(
                using: &random
            )!
            let draw = Double.random(in: 0..<1, using: &random)
            guard case .retry(let wait, _) = decide(failureClass, attempt: 1, random: draw, retryAfter: asked) else {
                Issue.record("no retry after \(asked)")
                continue
            }
            #expect(wait >= asked && wait >= .zero)
            if failureClass == .rateLimited { #expect(wait <= max(.zero, asked) * 1.1 + .milliseconds(1)) }
        }
    }

    @Test(
        arguments: [(.network, 750, 1250), (.serverError, 1000, 3000), (.rateLimited, 60_000, 66_000)]
            as [(FailureClass, Int64, Int64)]
    )
    func jitterStaysWithinItsBounds(failureClass: FailureClass, low: Int64, high: Int64) {
        for (draw, expected) in [(0.0, low), (1.0, high)] {
            guard case .retry(let wait, _) = decide(failureClass, attempt: 1, random: draw) else {
                Issue.record("no retry")
                continue
            }
            #expect(abs(wait.wholeMilliseconds - expected) <= 1)
        }
    }

    @Test func aCustomPolicyReplacesTheStandard() {
        let policy = RetryPolicy(attempts: 2, delay: .exponential(.seconds(10)))
        let failed = failure(.network)
        #expect(
            RetryDecision.decide(failure: failed, attempt: 1, random: 0, policy: policy)
                == .retry(after: .seconds(10), reason: .network)
        )
        #expect(
            RetryDecision.decide(failure: failed, attempt: 2, random: 0, policy: policy) == .giveUp(exhausted: true)
        )
    }

    @Test func backoffDoublesUpToItsCap() {
        let waits = (1...9).map { Backoff.acknowledgement.delay(afterFailures: $0) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(Backoff.acknowledgement.delay(afterFailures: 1, random: 0) == .milliseconds(750))
        #expect(Backoff.acknowledgement.delay(afterFailures: 1_000_000, random: 0.999) == .seconds(60))
        #expect(Backoff.acknowledgement.delay(afterFailures: 0) == .seconds(1))
    }
}

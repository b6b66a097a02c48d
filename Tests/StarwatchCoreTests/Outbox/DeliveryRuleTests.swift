import StarwatchCore
import Testing

@Suite struct DeliveryRuleTests {
    private typealias Case = (required: [DeliveryState], optional: [DeliveryState], verdict: DeliveryRule.Verdict)

    private static let cases: [Case] = [
        ([.ok], [.pending], .delivered), ([.ok], [.givenUp], .delivered), ([.ok], [.rejected], .delivered),
        ([.ok, .pending], [.ok], .waiting), ([.pending], [.ok], .waiting), ([.pending], [.givenUp], .waiting),
        ([.ok, .rejected], [.ok], .dead), ([.ok, .givenUp], [], .dead), ([.givenUp], [.ok], .dead),
        ([.ok, .gone], [], .delivered), ([.gone], [], .released), ([.gone], [.gone], .released),
        // No required sink is left.
        ([.gone], [.ok], .delivered), ([], [.ok, .pending], .delivered), ([], [.pending, .givenUp], .waiting),
        ([], [.givenUp], .dead), ([], [.rejected, .gone], .dead), ([], [], .released),
        ([.ok, .cancelled], [], .delivered), ([.cancelled], [], .released),
    ]

    @Test(arguments: cases.indices)
    func changesWaitForRequiredSinksOnly(index: Int) {
        let (required, optional, verdict) = Self.cases[index]
        #expect(DeliveryRule.verdict(required: Set(required), optional: Set(optional)) == verdict)
    }

    @Test func aNotificationIsGivenUpOnlyAfterTheLimitAndTriedOnceMoreAtIt() {
        let due = Timestamp(seconds: 1000)
        let policy = SinkPolicy(giveUpAfter: .seconds(60))
        #expect(policy.nextAttempt(due + .seconds(40), dueSince: due, now: due + .seconds(20)) == due + .seconds(40))
        #expect(policy.nextAttempt(due + .seconds(3600), dueSince: due, now: due + .seconds(59)) == due + .seconds(60))
        #expect(policy.nextAttempt(due + .seconds(61), dueSince: due, now: due + .seconds(60)) == nil)
    }

    @Test func withoutALimitOnlyAnOptionalSinkIsGivenUpAfterTwoWeeks() {
        let due = Timestamp(seconds: 1000)
        let late = due + .seconds(15 * 86_400)
        #expect(SinkPolicy().nextAttempt(late + .seconds(1), dueSince: due, now: late) == late + .seconds(1))
        let optional = SinkPolicy(isRequired: false)
        #expect(optional.nextAttempt(late + .seconds(1), dueSince: due, now: late) == nil)
        #expect(optional.nextAttempt(due + .seconds(60), dueSince: due, now: due + .seconds(1)) == due + .seconds(60))
    }
}

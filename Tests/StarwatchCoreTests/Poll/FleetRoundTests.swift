import StarwatchCore
import Testing

@Suite struct FleetRoundTests {
    @Test func accountsThatAskAloneTakeOneRequestForEachPoll() {
        let round = FleetRound(polls: 10_000)
        #expect(round.alone == 10_000 && round.shared == 0)
        #expect(round.duration(requestsPerSecond: 10) == .seconds(1000))
    }

    /// 2,000 plans take three requests of at most 730, five times in a round.
    @Test func tenThousandAccountsOnTwoThousandPlansTakeFifteenRequests() {
        let round = FleetRound(polls: 10_000, sharing: 10_000, portions: 3, answers: 5)
        #expect(round.requests == 15)
        #expect(round.duration(requestsPerSecond: 10) == .milliseconds(1500))
    }

    @Test func aRoundCountsSharedAndLonelyPolls() {
        let round = FleetRound(polls: 10_000, sharing: 9000, portions: 2, answers: 5)
        #expect(round.alone == 1000 && round.shared == 10)
    }

    @Test func theRoundsOfSeveralKindsAddUp() {
        let sum = FleetRound(polls: 2) + FleetRound(polls: 10_000, sharing: 9000, portions: 2, answers: 5)
        #expect(sum.alone == 1002 && sum.shared == 10 && sum.requests == 1012)
    }

    @Test func accountsTooFewToShareAskAlone() {
        #expect(FleetRound(polls: 20, sharing: 14, portions: 3, answers: 5).requests == 20)
        #expect(FleetRound(polls: 20, sharing: 15, portions: 3, answers: 5).requests == 20)
        #expect(FleetRound(polls: 20, sharing: 20, portions: 1, answers: 5).requests == 5)
    }

    @Test func withoutALimitOfRequestsARoundStillHasADuration() {
        #expect(FleetRound(polls: 2).duration(requestsPerSecond: 0) == .seconds(2))
    }

    @Test func anAccountWaitsForTheRoundThatWasWhenItBecameDue() {
        var awaited = FleetRound.awaited(.zero, now: .seconds(1000), wait: .zero)
        #expect(awaited == .seconds(1000))
        // Most have been polled, and share from now on.
        awaited = FleetRound.awaited(awaited, now: .seconds(100), wait: .seconds(900))
        #expect(awaited == .seconds(1000))
        #expect(FleetRound.awaited(awaited, now: .seconds(2), wait: .seconds(1)) == .seconds(2))
    }
}

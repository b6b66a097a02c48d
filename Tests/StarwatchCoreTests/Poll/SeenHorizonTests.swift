import StarwatchCore
import Testing

/// The server's clock shows noon when the machine has run for 1,000 s.
@Suite struct SeenHorizonTests {
    private let noon = Timestamp(milliseconds: 1_767_268_800_000)
    private let start = Duration.seconds(1000)
    private let tolerance = Duration.seconds(2)

    /// A horizon after a complete walk at noon.
    private func seen() -> SeenHorizon {
        var horizon = SeenHorizon()
        walk(&horizon, after: .zero)
        return horizon
    }

    private func observe(_ horizon: inout SeenHorizon, after: Duration, behind: Duration = .zero) {
        horizon.observe(noon + after - behind, asked: start + after, at: start + after, tolerance: tolerance)
    }

    /// A whole walk of one page.
    private func walk(_ horizon: inout SeenHorizon, after: Duration, behind: Duration = .zero) {
        horizon.begin(resuming: nil)
        observe(&horizon, after: after, behind: behind)
        horizon.receive(readSince: noon + after - behind)
        horizon.complete()
    }

    @Test func aCompleteWalkHasSeenWhatWasThereWhenItBegan() {
        var horizon = seen()
        #expect(horizon.time == noon)
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon + .seconds(60))
        horizon.receive(readSince: noon + .seconds(90))
        #expect(horizon.time == noon)
        horizon.complete()
        #expect(horizon.time == noon + .seconds(60))
    }

    @Test func aWalkThatFailsMovesNothing() {
        var horizon = seen()
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon + .seconds(60))
        horizon.begin(resuming: nil)
        #expect(horizon.time == noon)
    }

    @Test func aPageFromACacheTakesNothingBack() {
        var horizon = seen()
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon - .seconds(4000))
        horizon.pass(.floor(.timestamped, at: noon - .seconds(4500)))
        horizon.complete()
        #expect(horizon.time == noon)
    }

    @Test func aPageOfUnknownTimeMovesNothing() {
        var horizon = seen()
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon + .seconds(60))
        horizon.receive(readSince: nil)
        horizon.complete()
        #expect(horizon.time == noon)
    }

    /// What changed after the last `Date` before the step can have any time from then on, by the new clock.
    @Test func aClockThatIsSetBackLowersTheHorizonToTheLastDateBefore() {
        var horizon = seen()
        observe(&horizon, after: .seconds(100))
        observe(&horizon, after: .seconds(160), behind: .seconds(600))
        #expect(horizon.time == noon + .seconds(100 - 600))
    }

    @Test func aStepWithinTheToleranceIsNone() {
        var horizon = seen()
        observe(&horizon, after: .seconds(60), behind: .seconds(2))
        #expect(horizon.time == noon)
    }

    /// The server's answer arrives when the machine wakes up.
    @Test(arguments: [true, false])
    func anAnswerThatTookLongIsNoStep(isFirst: Bool) {
        var horizon = isFirst ? restarted(stored: noon - .seconds(60), age: .seconds(60)) : seen()
        let former = horizon.time
        let (date, asked) = (noon + .seconds(30), start + .seconds(30))
        horizon.observe(date, asked: asked, at: start + .seconds(7230), tolerance: tolerance)
        #expect(horizon.time == former)
        observe(&horizon, after: .seconds(7260))
        #expect(horizon.time == former)
    }

    @Test func aStepDuringAWalkLowersWhatTheWalkHasSeen() {
        var horizon = seen()
        horizon.begin(resuming: nil)
        observe(&horizon, after: .seconds(60))
        horizon.receive(readSince: noon + .seconds(60))
        observe(&horizon, after: .seconds(70), behind: .seconds(600))
        horizon.receive(readSince: noon + .seconds(70 - 600))
        horizon.complete()
        #expect(horizon.time == noon + .seconds(60 - 600))
    }

    /// The changes of the time between the two steps have identifiers of the clock of that time.
    @Test func aStepForwardRaisesNothing() {
        var horizon = seen()
        observe(&horizon, after: .seconds(60), behind: .seconds(600))
        let low = horizon.time
        observe(&horizon, after: .seconds(120), behind: .seconds(-3600))
        #expect(horizon.time == low)
        walk(&horizon, after: .seconds(180), behind: .seconds(-3600))
        #expect(horizon.time == noon + .seconds(180 + 3600))
    }

    @Test func ascendingPagesMoveTheHorizonWithTheCursorButNotAheadOfTheServer() {
        var horizon = seen()
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon + .seconds(500))
        horizon.pass(.floor(.timestamped, at: noon + .seconds(300)))
        #expect(horizon.time == noon + .seconds(300))
        horizon.pass(.floor(.timestamped, at: noon + .seconds(900)))
        #expect(horizon.time == noon + .seconds(500))
    }

    @Test(arguments: [true, false])
    func aResumedWalkHasSeenWhatWasThereWhenItBegan(isOfThisRun: Bool) {
        let top = JWTID.floor(.ulid, at: noon + .seconds(50))
        var horizon = seen()
        horizon.begin(resuming: nil)
        horizon.receive(readSince: noon + .seconds(60))
        if isOfThisRun { horizon.interrupt(at: top) }
        horizon.begin(resuming: OpenWalk(top: top, before: top, after: nil))
        horizon.receive(readSince: noon + .seconds(120))
        horizon.complete()
        #expect(horizon.time == (isOfThisRun ? noon + .seconds(60) : noon))
    }

    // MARK: - After a restart

    private func restarted(stored: Timestamp?, age: Duration, kept: Duration = .seconds(7 * 86_400)) -> SeenHorizon {
        SeenHorizon(stored: stored, age: age, kept: kept, at: start)
    }

    @Test func aRestartContinuesFromWhatIsStored() {
        var horizon = restarted(stored: noon - .seconds(900), age: .seconds(300))
        observe(&horizon, after: .zero)
        #expect(horizon.time == noon - .seconds(900))
    }

    @Test func anOlderDatabaseTellsOnlyTheTimeSinceTheLastSuccess() {
        var horizon = restarted(stored: nil, age: .seconds(300))
        #expect(horizon.time == nil)
        // The first walk began at the cursor, so it has not looked lower.
        walk(&horizon, after: .seconds(1))
        #expect(horizon.time == noon - .seconds(300))
        walk(&horizon, after: .seconds(61))
        #expect(horizon.time == noon + .seconds(61))
    }

    @Test func aClockThatWasSetBackMeanwhileIsNoticed() {
        // By the local clock 1,800 s have passed, by the server's 600 s.
        var horizon = restarted(stored: noon - .seconds(600), age: .seconds(1800))
        observe(&horizon, after: .zero)
        #expect(horizon.time == noon - .seconds(1800))
    }

    /// A month ahead, and set back while the agent was stopped for an hour.
    @Test func aTimeBelowTheStoredOneProvesEveryStep() {
        var horizon = restarted(stored: noon + .seconds(30 * 86_400), age: .seconds(3600))
        observe(&horizon, after: .zero)
        #expect(horizon.time == noon - .seconds(3600))
    }

    /// Everything of these years would be fetched again, and announced again if it was deleted since.
    @Test(arguments: [(kept: 7 * 86_400, step: 86_400), (3600, 3600)] as [(kept: Int64, step: Int64)])
    func aLocalClockThatIsYearsAheadCountsForADayAndForNoMoreThanTheOutboxKnows(kept: Int64, step: Int64) {
        let age = Duration.seconds(10 * 365 * 86_400)
        var horizon = restarted(stored: noon - .seconds(60), age: age, kept: .seconds(kept))
        observe(&horizon, after: .zero)
        #expect(horizon.time == noon - .seconds(60 + step))
    }

    @Test func aLocalClockThatIsBehindCountsForNothing() {
        var horizon = restarted(stored: noon - .seconds(60), age: .seconds(-3600))
        observe(&horizon, after: .zero)
        #expect(horizon.time == noon - .seconds(60))
    }
}

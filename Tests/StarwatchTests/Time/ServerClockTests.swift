import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

@Suite struct ServerClockTests {
    private let time = ManualClock()

    private func makeClock(source: ClockOptions.Source = .auto, maxSkew: Duration = .seconds(30)) -> ServerClock {
        ServerClock(
            time: time,
            metrics: MetricRegistry.$current.withValue(MetricRegistry()) { ClockMetrics() },
            maxSkew: maxSkew,
            source: source
        )
    }

    private func observe(_ clock: ServerClock, ahead milliseconds: Int64, age: String? = nil) {
        clock.observe(
            serverTime: String(time.now.milliseconds + milliseconds),
            date: nil,
            age: age,
            sentAt: time.now,
            roundTrip: .milliseconds(20)
        )
    }

    /// The machine can give the thread's time to others.
    @Test(arguments: [false, true]) func aDelayBetweenTheReadingsOfTheClocksIsNoStep(isKnown: Bool) {
        let delayed = DelayedClock(time)
        let clock = ServerClock(
            time: delayed,
            metrics: MetricRegistry.$current.withValue(MetricRegistry()) { ClockMetrics() },
            maxSkew: .seconds(30),
            source: .auto
        )
        if isKnown { observe(clock, ahead: 60_000) }
        delayed.delays.withLock { $0 = 1 }
        observe(clock, ahead: 60_000)
        #expect(delayed.delays.withLock { $0 } == 0)
        for _ in 1...2 { #expect(abs((clock.now - time.now).wholeMilliseconds - 60_000) <= 25) }
        #expect(abs((clock.estimate?.offset.wholeMilliseconds ?? 0) - 60_000) <= 25)
    }

    /// A clock on which time passes after the next readings of ``boottime``.
    private final class DelayedClock: TimeSource {
        private let clock: ManualClock
        /// The number of these readings.
        let delays = Mutex(0)

        init(_ clock: ManualClock) { self.clock = clock }

        var now: Timestamp { clock.now }
        var monotonic: Duration { clock.monotonic }

        var boottime: Duration {
            let boottime = clock.boottime
            let isDelayed = delays.withLock { delays in
                defer { delays = max(0, delays - 1) }
                return delays > 0
            }
            if isDelayed { clock.advance(by: .seconds(2)) }
            return boottime
        }

        func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
    }

    @Test(arguments: [2_000, 10_000, -10_000, 3_600_000, -1_500] as [Int64])
    func skewOverASecondIsCorrected(milliseconds: Int64) {
        let clock = makeClock()
        observe(clock, ahead: milliseconds)
        let error = (clock.now - time.now).wholeMilliseconds - milliseconds
        #expect(abs(error) <= 25)
    }

    @Test(arguments: [86_500, -86_500, 30 * 86_400, -30 * 86_400] as [Int64], [0, 7_200, -7_200] as [Int64])
    func skewOverADayIsToldAndFollowedForADay(seconds: Int64, step: Int64) throws {
        let clock = makeClock()
        observe(clock, ahead: seconds * 1000)
        // Also before anybody has noticed that the local clock was set.
        time.setWall(to: time.now + .seconds(step))
        let bound = seconds - step > 0 ? min(seconds - step, 86_400) : max(seconds - step, -86_400)
        #expect(abs((clock.now - time.now).wholeMilliseconds - bound * 1000) <= 25)
        #expect(abs((clock.local(clock.now) - time.now).wholeMilliseconds) <= 25)
        let offset = try #require(clock.estimate).offset.wholeMilliseconds
        #expect(abs(offset - (seconds - step) * 1000) <= 100)
        #expect(clock.isSkewed)
    }

    @Test(arguments: [0, 400, -900, 980] as [Int64])
    func skewOfLessIsNotCorrected(milliseconds: Int64) {
        let clock = makeClock()
        observe(clock, ahead: milliseconds)
        #expect(clock.now == time.now)
        #expect(clock.estimate != nil)
    }

    @Test func theLocalClockIsBelievedWhenTheConfigurationSaysSo() {
        let clock = makeClock(source: .system)
        observe(clock, ahead: 60_000)
        #expect(clock.now == time.now)
        #expect(clock.isSkewed)
    }

    @Test func onlyWhatIsCertainlyOverTheLimitIsSkewed() {
        for (milliseconds, isSkewed) in [(30_005, false), (31_000, true)] as [(Int64, Bool)] {
            let clock = makeClock()
            observe(clock, ahead: milliseconds)
            #expect(clock.isSkewed == isSkewed)
        }
    }

    @Test func cachedAnswersAreIgnored() {
        let clock = makeClock()
        observe(clock, ahead: 60_000, age: "3")
        #expect(clock.estimate == nil)
        #expect(clock.lastSync == nil)
        #expect(clock.now == time.now)
    }

    @Test func slowAnswersAreIgnored() {
        let clock = makeClock()
        clock.observe(
            serverTime: String(time.now.milliseconds + 60_000),
            date: nil,
            age: nil,
            sentAt: time.now,
            roundTrip: .milliseconds(2001)
        )
        #expect(clock.estimate == nil)
    }

    /// From the moment it is set, not from the moment somebody notices.
    @Test(arguments: [0, 60_000, -43_200_000], [7_200, -7_200, 43_000, -43_000] as [Int64])
    func settingTheLocalClockDoesNotMoveTheServersTime(ahead: Int64, step: Int64) throws {
        let clock = makeClock()
        observe(clock, ahead: ahead)
        let before = clock.now
        time.setWall(to: time.now + .seconds(step))
        #expect(clock.now == before)
        #expect(clock.local(clock.now) == time.now)
        clock.recordStep()
        #expect(abs((clock.now - before).wholeMilliseconds) <= 25)
        #expect(abs((clock.local(clock.now) - time.now).wholeMilliseconds) <= 25)
        time.advance(by: .seconds(600))
        #expect(abs((clock.now - before).wholeMilliseconds - 600_000) <= 25)
        let estimate = try #require(clock.estimate)
        let error = estimate.offset.wholeMilliseconds - (ahead - step * 1000)
        #expect(abs(error) <= estimate.uncertainty.wholeMilliseconds)
        // And back again.
        time.setWall(to: time.now - .seconds(step))
        #expect(abs((clock.now - before).wholeMilliseconds - 600_000) <= 50)
        // The next reading agrees with what was known.
        observe(clock, ahead: ahead)
        #expect(abs((clock.now - before).wholeMilliseconds - 600_000) <= 25)
    }

    @Test func aSuspendIsNoStep() {
        let clock = makeClock()
        observe(clock, ahead: 60_000)
        let before = clock.now
        time.suspend(for: .seconds(3600))
        #expect(clock.now - before == .seconds(3600))
    }

    @Test func withoutAReadingTheLocalClockIsBelievedWhereverItIsSet() {
        let clock = makeClock()
        time.setWall(to: time.now + .seconds(86_400))
        #expect(clock.now == time.now)
        #expect(clock.local(clock.now) == time.now)
    }

    @Test func whoBelievesTheLocalClockFollowsItAndMeasuresAllTheSame() throws {
        let clock = makeClock(source: .system)
        observe(clock, ahead: 0)
        time.setWall(to: time.now + .seconds(3600))
        #expect(clock.now == time.now)
        #expect(clock.local(clock.now) == time.now)
        #expect(abs(try #require(clock.estimate).offset.wholeMilliseconds + 3_600_000) <= 50)
        #expect(clock.isSkewed)
    }

    @Test func theSourceSaysWhichHeadersCount() throws {
        func offset(_ source: ClockOptions.Source) -> Int64? {
            let clock = makeClock(source: source)
            clock.observe(
                serverTime: String(time.now.milliseconds + 500_000),
                date: "Thu, 01 Jan 2026 12:01:40 GMT",
                age: nil,
                sentAt: time.now,
                roundTrip: .milliseconds(20)
            )
            return clock.estimate.map { ($0.offset.wholeMilliseconds + 500) / 10_000 }
        }
        #expect(offset(.auto) == 50)
        #expect(offset(.timeEndpoint) == 50)
        #expect(offset(.dateHeader) == 10)
        #expect(offset(.ntp) == nil)
    }
}

import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite struct ServerClockTests {
    private let time = ManualClock()

    private func makeClock(isCorrecting: Bool = true, maxSkew: Duration = .seconds(30)) -> ServerClock {
        ServerClock(
            time: time,
            metrics: ClockMetrics(registry: MetricRegistry()),
            maxSkew: maxSkew,
            isCorrecting: isCorrecting
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

    @Test(arguments: [2_000, 10_000, -10_000, 3_600_000, -1_500] as [Int64])
    func skewOverASecondIsCorrected(milliseconds: Int64) {
        let clock = makeClock()
        observe(clock, ahead: milliseconds)
        let error = (clock.now - time.now).wholeMilliseconds - milliseconds
        #expect(abs(error) <= 25)
    }

    @Test(arguments: [0, 400, -900, 980] as [Int64])
    func skewOfLessIsNotCorrected(milliseconds: Int64) {
        let clock = makeClock()
        observe(clock, ahead: milliseconds)
        #expect(clock.now == time.now)
        #expect(clock.estimate != nil)
    }

    @Test func theLocalClockIsBelievedWhenTheConfigurationSaysSo() {
        let clock = makeClock(isCorrecting: false)
        observe(clock, ahead: 60_000)
        #expect(clock.now == time.now)
        #expect(clock.isSkewed)
    }

    @Test func onlyWhatIsCertainlyOverTheLimitIsSkewed() {
        let clock = makeClock()
        observe(clock, ahead: 30_005)
        #expect(!clock.isSkewed)
        observe(clock, ahead: 31_000)
        #expect(clock.isSkewed)
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

    @Test func aLocalClockThatWasSetIsMeasuredAnew() {
        let clock = makeClock()
        observe(clock, ahead: 60_000)
        clock.reset()
        #expect(clock.now == time.now)
        #expect(clock.estimate == nil)
    }
}

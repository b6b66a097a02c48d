import StarwatchCore
import Testing

@Suite struct ClockEstimatorTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    private func sample(
        skew: Int64,
        at sent: Int64,
        out: Int64,
        back: Int64,
        resolution: Int64 = 1,
        source: ClockSource = .dateHeader
    ) -> ClockSample {
        let server = sent + out + skew
        let shown = server - (server % resolution + resolution) % resolution
        return ClockSample(
            source: source,
            serverTime: Timestamp(milliseconds: shown),
            resolution: .milliseconds(resolution),
            sentAt: Timestamp(milliseconds: sent),
            roundTrip: .milliseconds(out + back)
        )
    }

    /// For any skew and any asymmetric delays, the true offset lies within the bounds.
    @Test(arguments: 1...20)
    func theTrueSkewIsAlwaysWithinTheBounds(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let skew = Int64.random(in: -5 * 365 * 86_400_000...3_600_000, using: &random)
        var estimator = ClockEstimator()
        var now = start.milliseconds
        for _ in 0..<200 {
            now += Int64.random(in: 1...400_000, using: &random)
            let out = Int64.random(in: 0...1000, using: &random)
            let back = Int64.random(in: 0...1000, using: &random)
            let resolution: Int64 = Bool.random(using: &random) ? 1 : 1000
            #expect(estimator.add(sample(skew: skew, at: now, out: out, back: back, resolution: resolution)) == .used)
            let estimate = try #require(estimator.estimate)
            let error = estimate.offset.wholeMilliseconds - skew
            #expect(abs(error) <= estimate.uncertainty.wholeMilliseconds)
            now += out + back
        }
        #expect(estimator.restarts == 0)
    }

    @Test func secondBoundariesInDateNarrowTheBounds() throws {
        var random = SplitMix64(seed: 8)
        var estimator = ClockEstimator()
        for index in 0..<16 as Range<Int64> {
            let sent = start.milliseconds + index * 10_000 + Int64.random(in: 0..<1000, using: &random)
            estimator.add(sample(skew: 1234, at: sent, out: 5, back: 5, resolution: 1000))
        }
        let estimate = try #require(estimator.estimate)
        #expect(estimate.uncertainty < .milliseconds(200))
        #expect(estimate.serverTime(at: start) > start)
    }

    @Test func theFastestReadingIsKeptBeyondTheCapacity() throws {
        var estimator = ClockEstimator()
        let later: Int64 = 48
        estimator.add(sample(skew: 1234, at: start.milliseconds, out: 1, back: 1))
        // Within a minute drift is small. Each reading is slower than all before it.
        for index in 1...later {
            let delay = 300 + index
            estimator.add(sample(skew: 1234, at: start.milliseconds + index * 1000, out: delay, back: delay))
        }
        let estimate = try #require(estimator.estimate)
        #expect(estimate.uncertainty <= .milliseconds(10))
        #expect(abs(estimate.offset.wholeMilliseconds - 1234) <= estimate.uncertainty.wholeMilliseconds)
        // The newest reading stays too, although its bounds are the widest.
        #expect(estimate.sampledAt == start + .milliseconds(later * 1000 + 2 * (300 + later)))
        #expect(estimator.restarts == 0)
    }

    @Test func driftStaysWithinTheBounds() throws {
        var estimator = ClockEstimator()
        for index in 0..<200 as Range<Int64> {
            // 50 ms in 1,000 s: half of the assumed drift.
            let skew = index * 300 / 20
            estimator.add(sample(skew: skew, at: start.milliseconds + index * 300_000, out: 2, back: 2))
            let estimate = try #require(estimator.estimate)
            #expect(abs(estimate.offset.wholeMilliseconds - skew) <= estimate.uncertainty.wholeMilliseconds + 1)
        }
    }

    /// One answer can be a mistake, or a cache's.
    @Test func aStepOfTheServersClockIsFollowedWhenASecondReadingAgrees() throws {
        var estimator = ClockEstimator()
        for index in 0..<10 as Range<Int64> {
            estimator.add(sample(skew: 0, at: start.milliseconds + index * 1000, out: 10, back: 10))
        }
        func add(skew: Int64, after seconds: Int64) -> ClockSampleResult {
            estimator.add(sample(skew: skew, at: start.milliseconds + seconds * 1000, out: 10, back: 10))
        }
        #expect(add(skew: 60_000, after: 20) == .ignoredJump)
        #expect(try #require(estimator.estimate).offset.wholeMilliseconds.magnitude <= 20)
        // Neither another step nor the former time agrees with it.
        #expect(add(skew: 120_000, after: 21) == .ignoredJump && add(skew: 0, after: 22) == .used)
        #expect(add(skew: 60_000, after: 30) == .ignoredJump && estimator.restarts == 0)
        #expect(add(skew: 60_000, after: 8000) == .used && estimator.restarts == 1)
        let estimate = try #require(estimator.estimate)
        #expect(abs(estimate.offset.wholeMilliseconds - 60_000) <= estimate.uncertainty.wholeMilliseconds)
        #expect(estimate.uncertainty < .milliseconds(20))
        #expect(estimate.sampledAt == start + .milliseconds(8_000_020))
    }

    /// Polls can be hours apart.
    @Test func anOldReadingIsWhatAStepIsMeasuredBy() throws {
        var estimator = ClockEstimator()
        estimator.add(sample(skew: 0, at: start.milliseconds, out: 10, back: 10))
        let later = start.milliseconds + 86_400_000
        #expect(estimator.add(sample(skew: -600_000, at: later, out: 10, back: 10)) == .ignoredJump)
        #expect(estimator.add(sample(skew: 0, at: 2 * later - start.milliseconds, out: 10, back: 10)) == .used)
    }

    @Test func aSlowAnswerIsIgnored() {
        var estimator = ClockEstimator()
        #expect(estimator.add(sample(skew: 0, at: start.milliseconds, out: 1000, back: 1001)) == .ignoredRTT)
        #expect(estimator.estimate == nil)
        #expect(estimator.add(sample(skew: 0, at: start.milliseconds, out: 1000, back: 1000)) == .used)
        #expect(estimator.add(.rejected(.ignoredAge, source: .dateHeader)) == .ignoredAge)
    }

    @Test(arguments: 1...10)
    func settingTheLocalClockMovesTheOffsetTheOtherWay(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var estimator = ClockEstimator()
        var skew: Int64 = 1234
        var now = start.milliseconds
        for _ in 0..<100 {
            now += Int64.random(in: 1000...100_000, using: &random)
            estimator.add(sample(skew: skew, at: now, out: 5, back: 15))
            let step = Int64.random(in: -86_400_000...86_400_000, using: &random)
            let inexact = Int64.random(in: -20...20, using: &random)
            now += step
            skew -= step
            estimator.localClockWasSet(by: .milliseconds(step + inexact), uncertainty: .milliseconds(20))
            let estimate = try #require(estimator.estimate(at: Timestamp(milliseconds: now)))
            #expect(abs(estimate.offset.wholeMilliseconds - skew) <= estimate.uncertainty.wholeMilliseconds)
        }
        #expect(estimator.restarts == 0)
    }

    /// Times of a hostile or broken server never trap, and what was known stays (C-133).
    @Test(arguments: [0, -1, 253_402_300_799_999, -62_135_596_800_000, 99_999_999_999_999] as [Int64])
    func aTimeThatIsDecadesOffIsAFailure(milliseconds: Int64) throws {
        var estimator = ClockEstimator()
        let absurd = ClockSample(
            source: .timeEndpoint,
            serverTime: Timestamp(milliseconds: milliseconds),
            resolution: .seconds(1),
            sentAt: start,
            roundTrip: .milliseconds(5)
        )
        #expect(estimator.add(absurd) == .failed && estimator.estimate == nil)
        estimator.add(sample(skew: 40, at: start.milliseconds + 1000, out: 5, back: 5))
        for _ in 0..<3 { #expect(estimator.add(absurd) == .failed) }
        let estimate = try #require(estimator.estimate)
        #expect(abs(estimate.offset.wholeMilliseconds - 40) <= estimate.uncertainty.wholeMilliseconds)
    }

    @Test func theUncertaintyGrowsWithTime() throws {
        var estimator = ClockEstimator()
        estimator.add(sample(skew: 0, at: start.milliseconds, out: 10, back: 10))
        let fresh = try #require(estimator.estimate)
        let old = try #require(estimator.estimate(at: start + .seconds(10_000)))
        #expect(old.uncertainty - fresh.uncertainty >= .seconds(1))
    }

    private func read(serverTime: String? = nil, date: String? = nil, age: String? = nil) -> ServerClockReading {
        .read(serverTime: serverTime, date: date, age: age, sentAt: start, roundTrip: .milliseconds(10))
    }

    @Test(
        arguments: [
            ("1767225600", 1_767_225_600_000, 1000), ("1767225600123", 1_767_225_600_123, 1),
            ("1767225600.5", 1_767_225_600_500, 100), ("1767225600.1239", 1_767_225_600_123, 1),
            ("2026-01-01T00:00:00.250Z", 1_767_225_600_250, 1), ("2026-01-01T00:00:00Z", 1_767_225_600_000, 1000),
        ] as [(String, Int64, Int64)]
    )
    func serverTimesAreSecondsOrMilliseconds(text: String, milliseconds: Int64, resolution: Int64) {
        guard case .sample(let sample) = read(serverTime: text, date: "Sun, 06 Nov 1994 08:49:37 GMT") else {
            Issue.record("not read")
            return
        }
        #expect(sample.source == .timeEndpoint)
        #expect(sample.serverTime.milliseconds == milliseconds)
        #expect(sample.resolution == .milliseconds(resolution))
        #expect(sample.receivedAt == start + .milliseconds(10))
    }

    @Test func dateIsUsedWithoutAServerTime() {
        guard case .sample(let sample) = read(serverTime: "soon", date: "Sun, 06 Nov 1994 08:49:37 GMT") else {
            Issue.record("not read")
            return
        }
        #expect(sample.source == .dateHeader)
        #expect(sample.resolution == .seconds(1))
    }

    @Test func cachedAndUnreadableAnswersAreRejected() {
        #expect(read(date: "Sun, 06 Nov 1994 08:49:37 GMT", age: "0") == .rejected(.ignoredAge, source: .dateHeader))
        #expect(read() == .rejected(.unparsable, source: .dateHeader))
        for text in ["", "-5", "1.", ".5", "1e9", "99999999999999999", "1.2.3"] {
            #expect(read(serverTime: text) == .rejected(.unparsable, source: .timeEndpoint), "\(text)")
        }
    }

    @Test func fractionsOfAMillisecondAreRoundedUp() {
        let sample = ClockSample(
            source: .ntp,
            serverTime: start,
            resolution: .zero,
            sentAt: start,
            roundTrip: .microseconds(1500)
        )
        #expect(sample.receivedAt == start + .milliseconds(2))
    }
}

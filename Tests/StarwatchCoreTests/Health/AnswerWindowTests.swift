import StarwatchCore
import Testing

@Suite struct AnswerWindowTests {
    private let bounds = [0.1, 0.5, 1, 5]

    /// Totals of requests that took 50 ms, 300 ms, 700 ms, 3 s and longer.
    private func totals(_ buckets: [UInt64], failed: Int = 0) -> AnswerWindow.Totals {
        var totals = AnswerWindow.Totals()
        (totals.requests, totals.failed, totals.buckets) = (Int(buckets.reduce(0, +)), failed, buckets)
        return totals
    }

    @Test func aQuarterOfFailedRequestsIsAProblemUntilTheyAreOlderThanFifteenMinutes() {
        var window = AnswerWindow(bounds: bounds)
        window.observe(totals([100, 0, 0, 0, 0], failed: 60), at: .zero)
        #expect(!window.summary.hasManyErrors)
        window.observe(totals([103, 0, 0, 0, 0], failed: 63), at: .seconds(30))
        #expect(!window.summary.hasManyErrors, "three are too few")
        window.observe(totals([112, 0, 0, 0, 0], failed: 63), at: .seconds(60))
        #expect(window.summary.hasManyErrors)
        window.observe(totals([113, 0, 0, 0, 0], failed: 63), at: .seconds(90))
        #expect(!window.summary.hasManyErrors)
        for minute in 2...17 { window.observe(totals([120, 0, 0, 0, 0], failed: 70), at: .seconds(60 * minute)) }
        #expect(window.summary.requests == 0)
    }

    @Test func aServerIsSlowIfItTakesThreeTimesAsLongAsBefore() throws {
        var window = AnswerWindow(bounds: bounds)
        window.observe(totals([0, 40, 0, 0, 0]), at: .zero)
        window.observe(totals([0, 44, 0, 0, 0]), at: .seconds(60))
        #expect(window.summary.p95 == nil, "four requests are too few")
        window.observe(totals([0, 60, 0, 0, 0]), at: .seconds(120))
        var summary = window.summary
        #expect(try #require(summary.usual) == 0.48 && summary.p95 == 0.48 && !summary.isSlow)
        window.observe(totals([0, 60, 0, 5, 0]), at: .seconds(180))
        summary = window.summary
        #expect(try #require(summary.p95) > 3 && summary.isSlow)
    }

    @Test func noP95LiesBeyondTheLongestRequest() {
        var window = AnswerWindow(bounds: bounds)
        func observe(_ buckets: [UInt64], longest: Double, at seconds: Int) {
            var observed = totals(buckets)
            observed.longest = longest
            window.observe(observed, at: .seconds(seconds))
        }
        observe([0, 40, 0, 0, 0], longest: 0.2, at: 0)
        observe([0, 40, 0, 9, 0], longest: 3.1, at: 60)
        observe([0, 40, 0, 9, 0], longest: 0, at: 120)
        // Within their buckets the estimates are 4.8 s and 0.48 s.
        #expect(window.summary.p95 == 3.1 && window.summary.usual == 0.2)
        // The longest one leaves with the 15 minutes, and is the longest of those before.
        for minute in 3...20 { observe([0, 40, 0, UInt64(minute) + 9, 0], longest: 2.9, at: 60 * minute) }
        #expect(window.summary.p95 == 2.9)
    }

    @Test func whatTheServerRefusesIsWithoutSuccessAndNoFaultOfTheServer() {
        var window = AnswerWindow(bounds: bounds)
        window.observe(totals([0, 0, 0, 0, 0]), at: .zero)
        var observed = totals([44, 0, 0, 0, 0])
        observed.refused = 44
        window.observe(observed, at: .seconds(60))
        #expect(window.summary.unsuccessful == 44 && window.summary.failed == 0 && !window.summary.hasManyErrors)
        #expect(RequestResult.allCases.filter(\.isSuccess) == [.ok, .notModified])
    }

    @Test func aServerThatStaysSlowDoesNotBecomeTheUsual() {
        var window = AnswerWindow(bounds: bounds)
        var count: UInt64 = 40
        window.observe(totals([0, count, 0, 0, 0]), at: .zero)
        for minute in 1...600 {
            count += 1
            window.observe(totals([0, 40, 0, count - 40, 0]), at: .seconds(60 * minute))
            if minute > 5 { #expect(window.summary.isSlow, "\(minute) min") }
        }
        for minute in 601...620 {
            count += 1
            window.observe(totals([0, count - 600, 0, 600, 0]), at: .seconds(60 * minute))
        }
        #expect(!window.summary.isSlow)
    }

    @Test func errorsAreOverThreeMinutesAfterTheLastOne() {
        var window = AnswerWindow(bounds: bounds)
        for minute in 0...14 {
            let count = UInt64(minute)
            window.observe(totals([count, 0, 0, 0, 0], failed: min(minute, 10)), at: .seconds(60 * minute))
            #expect(window.summary.hasManyErrors == (minute >= 4 && minute < 13), "\(minute) min")
        }
    }

    @Test func slownessIsOverAfterThreeMinutesOfFastAnswersAndDoesNotBecomeTheUsual() {
        var window = AnswerWindow(bounds: bounds)
        window.observe(totals([0, 40, 0, 0, 0]), at: .zero)
        for minute in 1...60 {
            let (fast, slow) = (UInt64(40 + max(0, minute - 10)), UInt64(min(minute, 10)))
            window.observe(totals([0, fast, 0, slow, 0]), at: .seconds(60 * minute))
            #expect(window.summary.isSlow == (minute >= 5 && minute < 13), "\(minute) min")
            #expect(window.summary.usual.map { $0 < 0.49 } == true, "\(minute) min")
        }
    }

    @Test func aServerThatIsNotAskedStaysSlow() {
        var window = AnswerWindow(bounds: bounds)
        window.observe(totals([0, 40, 0, 0, 0]), at: .zero)
        for minute in 1...12 {
            window.observe(totals([0, 40, 0, UInt64(min(minute, 8)), 0]), at: .seconds(60 * minute))
        }
        #expect(window.summary.isSlow)
    }

    @Test func aServerThatWasNeverFasterIsSlowOnlyAboveFiveSeconds() {
        let long = [0.1, 0.5, 1, 10]
        for (bounds, isSlow) in [(bounds, false), (long, true)] {
            var window = AnswerWindow(bounds: bounds)
            window.observe(totals([0, 0, 0, 0, 0]), at: .zero)
            window.observe(totals([0, 0, 0, 9, 0]), at: .seconds(60))
            #expect(window.summary.isSlow == isSlow)
        }
    }
}

@Suite struct ScrapeRhythmTests {
    @Test func scrapesThatCeaseAreNoticedAndThoseOfAHandAreNot() {
        var rhythm = ScrapeRhythm()
        for second in 1...9 { rhythm.scraped(at: .seconds(second)) }
        #expect(rhythm.silence(at: .seconds(9000)) == nil)
        for round in 1...10 { rhythm.scraped(at: .seconds(60 * round)) }
        #expect(rhythm.silence(at: .seconds(600 + 300)) == nil)
        #expect(rhythm.silence(at: .seconds(600 + 301)) == .seconds(301))
        rhythm.scraped(at: .seconds(1000))
        // The last interval was 400 s.
        #expect(rhythm.silence(at: .seconds(1000 + 1600)) == nil)
        #expect(rhythm.silence(at: .seconds(1000 + 1601)) != nil)
    }
}

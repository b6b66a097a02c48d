import StarwatchCore
import Testing

@Suite struct NTPPaceTests {
    @Test func successfulQueriesKeepTheInterval() {
        var pace = NTPPace(interval: .seconds(300))
        for _ in 0..<5 { #expect(pace.wait(after: .answered) == .seconds(300)) }
    }

    @Test func aServerIsQueriedAtMostEveryFifteenSeconds() {
        for outcome in NTPPace.Outcome.allCases {
            var pace = NTPPace(interval: .milliseconds(1))
            #expect(pace.wait(after: outcome).map { $0 >= .seconds(15) } ?? true)
        }
    }

    @Test func failuresDoubleTheWaitUpToALimit() {
        var pace = NTPPace(interval: .seconds(300))
        let waits = (0..<10).map { _ in pace.wait(after: .failed) }
        #expect(waits == [15, 30, 60, 120, 240, 480, 960, 1920, 2400, 2400].map { .seconds($0) })
        #expect(pace.wait(after: .answered) == .seconds(300))
        #expect(pace.wait(after: .failed) == .seconds(15))
        for _ in 0..<100 { #expect(pace.wait(after: .failed)! <= .seconds(2400)) }
    }

    @Test func aRateLimitSlowsDownFromThenOn() {
        var pace = NTPPace(interval: .seconds(60))
        #expect(pace.wait(after: .rateLimited) == .seconds(120))
        #expect(pace.wait(after: .answered) == .seconds(120))
        #expect(pace.wait(after: .failed) == .seconds(30))
        #expect(pace.wait(after: .rateLimited) == .seconds(240))
        for _ in 0..<50 { _ = pace.wait(after: .rateLimited) }
        #expect(pace.wait(after: .answered) == .seconds(60 * 64))
    }

    @Test func aRefusalEndsTheQueries() {
        var pace = NTPPace(interval: .seconds(60))
        #expect(pace.wait(after: .refused) == nil)
        #expect(pace.wait(after: .answered) == nil)
    }
}

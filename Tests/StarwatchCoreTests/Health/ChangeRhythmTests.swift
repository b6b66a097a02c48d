import StarwatchCore
import Testing

@Suite struct ChangeRhythmTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    /// Changes at these hours after the start.
    private func rhythm(_ hours: some Sequence<Int>) -> ChangeRhythm {
        var rhythm = ChangeRhythm()
        for hour in hours { rhythm.note(start + .seconds(hour * 3600)) }
        return rhythm
    }

    private func silence(_ rhythm: ChangeRhythm, untilHour hour: Int) -> ChangeRhythm.Silence? {
        rhythm.silence(until: start + .seconds(hour * 3600))
    }

    /// Every 8 h, for 8 days.
    private var regular: StrideTo<Int> { stride(from: 0, to: 200, by: 8) }

    @Test func aSilenceOfTwentyLongestGapsIsUsualAndALongerOneIsNot() {
        let usual = silence(rhythm(regular), untilHour: 192 + 160)
        #expect(usual?.longestGap == .seconds(8 * 3600) && usual?.ratio == 20 && usual?.isUnusual == false)
        #expect(silence(rhythm(regular), untilHour: 192 + 161)?.isUnusual == true)
    }

    @Test func nothingIsKnownOfFewChangesOrOfAShortTime() {
        #expect(silence(rhythm(stride(from: 0, to: 200, by: 11)), untilHour: 9000) == nil)
        #expect(silence(rhythm(0..<100), untilHour: 9000) == nil)
        #expect(silence(ChangeRhythm(), untilHour: 9000) == nil)
    }

    /// Nights, weekends and outages of our own are gaps too.
    @Test func theLongestGapDecidesUntilItIsThirtyDaysBeforeTheLastChange() {
        let hours = Array(regular) + Array(stride(from: 300, through: 1020, by: 4))
        #expect(silence(rhythm(hours), untilHour: 1020)?.longestGap == .seconds(108 * 3600))
        #expect(silence(rhythm(hours + [1024]), untilHour: 1024)?.longestGap == .seconds(4 * 3600))
    }

    @Test func aTimeBeforeTheLastOneIsIgnored() {
        var rhythm = rhythm(regular)
        let before = rhythm
        rhythm.note(start)
        #expect(rhythm == before && silence(rhythm, untilHour: 100) == nil)
    }

    @Test func aSilenceIsANoticeAndNoProblem() {
        let now = start
        var facts = HealthFacts()
        facts.polls = [HealthFacts.Poll(name: "news"), HealthFacts.Poll(name: "offers")]
        facts.polls[0].silence = .init(length: .seconds(160 * 3600), longestGap: .seconds(8 * 3600))
        #expect(HealthDecision.notice(facts, now: now) == nil)
        facts.polls[0].silence = .init(length: .seconds(196 * 3600), longestGap: .seconds(8 * 3600))
        let line = "Poll news has found no change for 8 d 4 h, 24 times its longest gap of 8 h"
        #expect(HealthDecision.notice(facts, now: now) == line)
        #expect(HealthDecision.problems(facts, now: now) == [])
        facts.sinks = [HealthFacts.Sink(name: "log", condition: .working)]
        facts.sinks[0].held = .init(count: 2, until: now + .seconds(60))
        #expect(HealthDecision.notice(facts, now: now)?.hasSuffix("wait for it; \(line)") == true)
    }
}

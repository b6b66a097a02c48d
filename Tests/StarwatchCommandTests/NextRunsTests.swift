import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct NextRunsTests {
    private func runs(_ timing: PollOptions.Timing, after now: String, count: Int = 3) -> NextRuns {
        var poll = PollOptions(name: PollName("mine")!, kind: .offersToMe)
        poll.timing = timing
        return NextRuns(poll, after: Timestamp(iso8601: now)!, count: count)
    }

    @Test func aSkippedLocalTimeIsMarkedAsGap() {
        let runs = runs(.cron("30 2 * * *", timezone: "Europe/Zurich"), after: "2026-03-28T00:00:00Z")
        #expect(
            runs.text == """
                2026-03-28T02:30:00+01:00  2026-03-28T01:30:00Z
                2026-03-29T03:00:00+02:00  2026-03-29T01:00:00Z  gap
                2026-03-30T02:30:00+02:00  2026-03-30T00:30:00Z
                """
        )
    }

    @Test func aRepeatedLocalTimeIsMarkedAsFold() {
        let runs = runs(.cron("30 1 * * *", timezone: "America/New_York"), after: "2026-10-31T12:00:00Z", count: 2)
        #expect(
            runs.text == """
                2026-11-01T01:30:00-04:00  2026-11-01T05:30:00Z  fold
                2026-11-02T01:30:00-05:00  2026-11-02T06:30:00Z
                """
        )
    }

    @Test func offsetsOfHalfAnHourAreWritten() {
        let runs = runs(.cron("0 9 * * *", timezone: "Asia/Kolkata"), after: "2026-01-01T00:00:00Z", count: 1)
        #expect(runs.text == "2026-01-01T09:00:00+05:30  2026-01-01T03:30:00Z")
    }

    @Test func anIntervalCountsFromNow() {
        let runs = runs(.every(.seconds(90)), after: "2026-01-01T00:00:00Z", count: 2)
        #expect(runs.runs.map(\.utc) == ["2026-01-01T00:01:30Z", "2026-01-01T00:03:00Z"])
        #expect(runs.timezone == "UTC")
    }

    @Test func jsonHoldsTheSameRuns() throws {
        let runs = runs(.cron("30 2 29 3 *", timezone: "Europe/Zurich"), after: "2026-03-28T12:00:00Z", count: 1)
        let json = try JSONOutput.encode(runs)
        #expect(json.contains("\"dst\" : \"gap\""))
        #expect(json.contains("\"local\" : \"2026-03-29T03:00:00+02:00\""))
        #expect(json.contains("\"timezone\" : \"Europe/Zurich\""))
    }
}

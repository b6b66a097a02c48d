import StarwatchCore
import Testing

/// Zurich 2026: 29 March 02:00 → 03:00 (01:00Z), 25 October 03:00 → 02:00 (01:00Z).
@Suite struct DaylightSavingTests {
    private func runs(
        _ text: String,
        after: String,
        count: Int,
        zone: String = "Europe/Zurich"
    ) throws -> [ScheduledRun] {
        let schedule = Schedule.cron(try CronExpression(text), zone: try FoundationZone(zone))
        return schedule.occurrences(after: try at(after), count: count)
    }

    @Test func aSkippedTimeOfAFixedExpressionRunsOnceAfterTheGap() throws {
        let runs = try runs("*/20 2 * * *", after: "2026-03-28T02:00:00Z", count: 2)
        #expect(runs.map(\.time) == [try at("2026-03-29T01:00:00Z"), try at("2026-03-30T00:00:00Z")])
        #expect(runs.map(\.dst) == [.gap, .none])
        #expect(runs.map(\.offsetSeconds) == [7200, 7200])
    }

    @Test func aSkippedTimeAtARegularOneRunsOnce() throws {
        let runs = try runs("0 2,3 * * *", after: "2026-03-28T12:00:00Z", count: 2)
        #expect(runs.map(\.time) == [try at("2026-03-29T01:00:00Z"), try at("2026-03-30T00:00:00Z")])
        #expect(runs.map(\.dst) == [.none, .none])
    }

    @Test func aRepeatedTimeOfAFixedExpressionRunsOnItsFirstPass() throws {
        let runs = try runs("30 2 * * *", after: "2026-10-24T12:00:00Z", count: 2)
        #expect(runs.map(\.time) == [try at("2026-10-25T00:30:00Z"), try at("2026-10-26T01:30:00Z")])
        #expect(runs.map(\.dst) == [.fold, .none])
        #expect(
            try self.runs("30 2 * * *", after: "2026-10-25T00:59:00Z", count: 1).map(\.time) == [
                try at("2026-10-26T01:30:00Z")
            ]
        )
    }

    @Test func aPeriodicExpressionRunsOnBothPassesAndThroughTheGap() throws {
        let fold = try runs("30 * * * *", after: "2026-10-25T00:00:00Z", count: 3)
        #expect(
            fold.map(\.time.iso8601) == [
                "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-10-25T02:30:00.000Z",
            ]
        )
        #expect(fold.map(\.dst) == [.fold, .fold, .none])
        let gap = try runs("30 * * * *", after: "2026-03-29T00:00:00Z", count: 2)
        #expect(gap.map(\.time.iso8601) == ["2026-03-29T00:30:00.000Z", "2026-03-29T01:30:00.000Z"])
        #expect(gap.map(\.dst) == [.none, .none])
    }

    @Test func aSkippedDayRunsAtTheStartOfTheNext() throws {
        let runs = try runs("0 12 30 12 *", after: "2011-12-01T00:00:00Z", count: 1, zone: "Pacific/Apia")
        #expect(runs.map(\.time) == [try at("2011-12-30T10:00:00Z")])
        #expect(runs.map(\.dst) == [.gap])
    }

    @Test func longestGapCountsTheLongDayOfAutumn() throws {
        let start = try at("2026-01-01T00:00:00Z")
        let zurich = try FoundationZone("Europe/Zurich")
        func gap(_ text: String, _ zone: any TimeZoneRules) throws -> Duration {
            Schedule.cron(try CronExpression(text), zone: zone).longestGap(from: start)
        }
        #expect(try gap("*/15 * * * *", FixedZone.utc) == .seconds(900))
        #expect(try gap("*/15 * * * *", zurich) == .seconds(900))
        #expect(try gap("0 9,17 * * *", FixedZone.utc) == .seconds(16 * 3600))
        #expect(try gap("0 9 * * *", zurich) == .seconds(25 * 3600))
        #expect(try gap("*/10 9-17 * * mon-fri", FixedZone.utc) == .seconds(63 * 3600 + 600))
        // From 2028 to 2029, across a leap day.
        #expect(try gap("0 0 1 1 *", FixedZone.utc) == .seconds(366 * 86_400))
        #expect(try gap("0 0 29 2 *", FixedZone.utc) == .seconds(1461 * 86_400))
        #expect(Schedule.every(.seconds(5)).longestGap(from: start) == .seconds(5))
        #expect(Schedule.every(.milliseconds(5)).longestGap(from: start) == .seconds(1))
    }

    @Test(arguments: [
        ("*/15 * * * *", 4 * 3600), ("0 */3 * * *", 5 * 3600), ("0 6 * * *", 26 * 3600), ("0 6 * * 1", 170 * 3600),
    ])
    func dataIsStaleAnHourAfterTheLongestGapAtTheEarliest(text: String, seconds: Int) throws {
        let schedule = Schedule.cron(try CronExpression(text), zone: try FoundationZone("Europe/Zurich"))
        #expect(schedule.staleAfter(from: try at("2026-01-01T00:00:00Z")) == .seconds(seconds))
    }

    @Test func longestGapAgreesWithAllRunsOfAYear() throws {
        var random = SplitMix64(seed: 5)
        let zone = try TableZone.foundation("Europe/Zurich", years: 2025...2029)
        for _ in 0..<30 {
            let oracle = CronOracle.random(using: &random)
            guard let cron = try? CronExpression(oracle.text) else { continue }
            let start = try at("2026-01-01T00:00:00Z")
            guard let first = cron.next(after: start, in: zone), first < start + .seconds(86_400 * 366) else {
                continue
            }
            var longest = Duration.zero
            var last = first
            while last <= first + .seconds(366 * 86_400), let next = cron.next(after: last, in: zone) {
                longest = max(longest, next - last)
                last = next
            }
            #expect(cron.longestGap(from: start, in: zone) == longest, "\(oracle.text)")
        }
    }
}

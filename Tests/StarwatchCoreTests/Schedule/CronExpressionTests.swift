import StarwatchCore
import Testing

@Suite struct CronExpressionTests {
    private func next(_ text: String, after: String, zone: any TimeZoneRules = FixedZone.utc) throws -> String? {
        try CronExpression(text).next(after: try at(after), in: zone)?.iso8601
    }

    @Test(arguments: [
        ("*/15 * * * *", "2026-01-01T12:00:00Z", "2026-01-01T12:15:00.000Z"),
        ("*/15 * * * *", "2026-01-01T12:14:59.999Z", "2026-01-01T12:15:00.000Z"),
        ("0 9,17 * * *", "2026-01-01T09:00:00Z", "2026-01-01T17:00:00.000Z"),
        ("0 9 * * mon-fri", "2026-01-02T10:00:00Z", "2026-01-05T09:00:00.000Z"),
        ("0 0 * jan,JUL-Sep *", "2026-02-01T00:00:00Z", "2026-07-01T00:00:00.000Z"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"),
        ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00.000Z"),
        ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00.000Z"),
        ("0 0 * * fri-sun", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00.000Z"),
        ("0 0 * * 5-7", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00.000Z"),
        ("0 0 * * sun-tue", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00.000Z"),
        // Both day fields are restricted: either can match.
        ("0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00.000Z"),
        ("0 0 13 * fri", "2026-01-10T00:00:00Z", "2026-01-13T00:00:00.000Z"),
        // One day field starts with a star: both must match.
        ("0 0 */2 * mon", "2026-01-06T00:00:00Z", "2026-01-19T00:00:00.000Z"),
        ("  1-5/2   0 1 1 * ", "2026-01-01T00:01:00Z", "2026-01-01T00:03:00.000Z"),
        ("59 23 31 12 *", "1969-12-30T00:00:00Z", "1969-12-31T23:59:00.000Z"),
    ])
    func firesAtTheNextMatch(text: String, after: String, expected: String) throws {
        #expect(try next(text, after: after) == expected)
    }

    @Test(arguments: [
        ("", "field_count", "five fields"), ("* * * *", "field_count", "has 4"),
        ("* * * * * *", "field_count", "has 6"), ("@daily", "field_count", "has 1"),
        ("60 * * * *", "value", "minute field"), ("-1 * * * *", "value", "0-59"),
        ("* 24 * * *", "value", "hour field"), ("* * 0 * *", "value", "1-31"),
        ("* * 32 * *", "value", "day-of-month"), ("* * * 13 *", "value", "jan-dec"),
        ("* * * foo *", "value", "month field"), ("* * * january *", "value", "'january'"),
        ("* * * * 8", "value", "day-of-week"), ("mon * * * *", "value", "minute field"),
        ("* * ? * *", "value", "'?'"), ("1, * * * *", "value", "minute"), ("+5 * * * *", "value", "'+5'"),
        ("*-5 * * * *", "value", "minute"), ("1-2-3 * * * *", "value", "minute"),
        ("30-10 * * * *", "range", "30-10"), ("* * * * sat-mon", "range", "day-of-week"),
        ("*/0 * * * *", "step", "1 to 60"), ("*/61 * * * *", "step", "1 to 60"), ("* */25 * * *", "step", "1 to 24"),
        ("*/x * * * *", "step", "minute"), ("*/ * * * *", "step", "minute"), ("*/2/2 * * * *", "step", "minute"),
        ("5/15 * * * *", "step_without_range", "minute"),
        ("0 0 31 2 *", "never_fires", "never"), ("0 0 31 4,6,9,11 *", "never_fires", "never"),
        ("0 0 30-31 feb */2", "never_fires", "never"),
    ])
    func rejectsOtherTexts(text: String, reason: String, mention: String) {
        let error = #expect(throws: CronError.self) { try CronExpression(text) }
        #expect(error?.reason == reason)
        #expect(error?.description.contains(mention) == true, "\(error?.description ?? "")")
    }

    @Test func aMissingDayIsValidTogetherWithAWeekday() throws {
        #expect(try next("0 0 31 2 1", after: "2026-01-01T00:00:00Z") == "2026-02-02T00:00:00.000Z")
    }

    @Test func leapDaysOnAWeekdayAreFoundDecadesAhead() throws {
        // 29 February on an even day of the week: the star requires both.
        #expect(try next("0 0 29 2 */6", after: "2032-03-01T00:00:00Z") == "2048-02-29T00:00:00.000Z")
    }

    @Test func textIsNormalised() throws {
        #expect(try CronExpression(" 0\t9  * * mon ").text == "0 9 * * mon")
        #expect(try CronExpression("0 9 * * mon") == CronExpression("0  9 * * mon"))
        #expect(try CronExpression("0 */2 * * *").isPeriodic)
        #expect(try !CronExpression("*/5 0-23 * * *").isPeriodic)
    }

    /// Several thousand random expressions, compared with the oracle in a month without a change of offset.
    @Test func agreesWithTheOracleInUTC() throws {
        var random = SplitMix64(seed: 1)
        let zone = TableZone(identifier: "UTC", first: 0, changes: [])
        for _ in 0..<100 {
            let oracle = CronOracle.random(using: &random)
            guard let cron = try? CronExpression(oracle.text) else { continue }
            let from = Timestamp(milliseconds: Int64.random(in: 0..<50_000_000, using: &random) * 60_000)
            let to = from + .seconds(4 * 86_400)
            #expect(
                collect(cron, from: from, to: to, zone: zone) == oracle.runs(from: from, to: to, zone: zone),
                "\(oracle.text)"
            )
        }
    }

    /// Around every change of these zones, including changes by half an hour, by a whole day, and at midnight.
    @Test(arguments: [
        ("Europe/Zurich", 2025...2026), ("America/New_York", 2025...2026), ("Australia/Lord_Howe", 2025...2026),
        ("Pacific/Apia", 2011...2012), ("America/St_Johns", 2010...2010), ("America/Havana", 2026...2026),
        ("Africa/Casablanca", 2026...2026), ("America/Scoresbysund", 2023...2024),
    ])
    func agreesWithTheOracleWhereOffsetsChange(identifier: String, years: ClosedRange<Int>) throws {
        let zone = try TableZone.foundation(identifier, years: years)
        #expect(!zone.changes.isEmpty)
        var random = SplitMix64(seed: 7)
        for change in zone.changes {
            for _ in 0..<25 {
                let oracle = CronOracle.random(using: &random)
                guard let cron = try? CronExpression(oracle.text) else { continue }
                let from = Timestamp(milliseconds: change.at - 86_400_000)
                let to = Timestamp(milliseconds: change.at + 86_400_000)
                let expected = oracle.runs(from: from, to: to, zone: zone)
                #expect(collect(cron, from: from, to: to, zone: zone) == expected, "\(oracle.text) in \(identifier)")
                // From any instant, on a whole minute or not.
                let after = from + .milliseconds(Int64.random(in: 0..<172_000_000, using: &random))
                if let wanted = expected.first(where: { $0 > after }) {
                    #expect(cron.next(after: after, in: zone) == wanted, "\(oracle.text) in \(identifier)")
                }
            }
        }
    }

    private func collect(_ cron: CronExpression, from: Timestamp, to: Timestamp, zone: TableZone) -> [Timestamp] {
        var runs: [Timestamp] = []
        var last = from
        while let next = cron.next(after: last, in: zone), next <= to {
            #expect(next > last)
            runs.append(next)
            last = next
        }
        return runs
    }
}

extension CronError {
    /// The case without its values.
    fileprivate var reason: String {
        switch self {
        case .fieldCount: "field_count"
        case .value: "value"
        case .range: "range"
        case .step: "step"
        case .stepWithoutRange: "step_without_range"
        case .neverFires: "never_fires"
        }
    }
}

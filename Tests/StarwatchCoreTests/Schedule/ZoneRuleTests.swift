import Testing

@testable import StarwatchCore

@Suite struct ZoneRuleTests {
    /// Each change as the C library has it: the second before it, and its own offset.
    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 3600, 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 7200, 3600),
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -18_000, -14_400),
        ("EST5EDT", "2026-11-01T06:00:00Z", -14_400, -18_000),
        // Summer time over the end of the year.
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-04-04T16:00:00Z", 39_600, 36_000),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", 37_800, 39_600),
        // Summer time that is earlier than standard time.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-03-29T01:00:00Z", 0, 3600),
        // Before midnight, and after the day.
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -7200, -3600),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2024-03-30T00:00:00Z", 7200, 10_800),
        ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", 7200, 10_800),
        // Moments in another year than their day.
        ("XXX0YYY,0/-24,J100", "2025-12-31T00:00:00Z", 0, 3600),
        ("XXX0YYY,J365/48,J100", "2027-01-02T00:00:00Z", 0, 3600),
        // 29 February is a day of the year only without J.
        ("XXX0YYY,J60/0,J300", "2028-03-01T00:00:00Z", 0, 3600),
        ("XXX0YYY,59/0,J300", "2028-02-29T00:00:00Z", 0, 3600),
    ])
    func aRuleChangesTheOffsetAtItsMoment(text: String, time: String, before: Int, after: Int) throws {
        let rule = try #require(ZoneRule(text))
        let change = try at(time)
        #expect(rule.offsetSeconds(at: change - .milliseconds(1)) == before)
        #expect(rule.offsetSeconds(at: change) == after)
        #expect(rule.identifier == text)
    }

    @Test func aRuleWithoutSummerTimeHasOneOffset() throws {
        for (text, offset) in [("UTC0", 0), ("<+0545>-5:45", 20_700), ("LMT+0:34:08", -2048), ("ABC18", -64_800)] {
            let rule = try #require(ZoneRule(text))
            #expect(rule.offsetSeconds(at: try at("1970-01-01T00:00:00Z")) == offset)
            #expect(rule.offsetSeconds(at: try at("2400-07-01T00:00:00Z")) == offset)
        }
    }

    @Test func summerTimeCanLastAllYear() throws {
        let rule = try #require(ZoneRule("EST5EDT,0/0,J365/25"))
        for time in ["2026-01-01T04:59:59Z", "2026-01-01T05:00:00Z", "2026-07-01T00:00:00Z"] {
            #expect(rule.offsetSeconds(at: try at(time)) == -14_400)
        }
    }

    @Test(arguments: [
        "", "UTC", "Europe/Zurich", "CE-1", "CET", "CET-", "<CET-1", "<>-1", "CET-25", "CET-19", "CET-1CEST,",
        "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/3 ", "CET-1CEST,M0.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J1", "CET-1CEST,366,J1", "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST-19,M3.5.0,M10.5.0", "CET-1:60", "CÉT-1", "CET--1", "CET-0001",
    ])
    func whatIsNoRuleIsRefused(text: String) { #expect(ZoneRule(text) == nil) }
}

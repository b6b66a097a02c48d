import StarwatchCore
import Testing

/// The hours of sinks. Zurich 2026: 29 March 02:00 → 03:00 (01:00Z), 25 October 03:00 → 02:00 (01:00Z).
@Suite struct SinkHoursTests {
    private func opening(
        _ hours: SinkHours?,
        _ time: String,
        zone: any TimeZoneRules = FixedZone.utc
    ) throws -> String? {
        try #require(hours).opens(after: try at(time), in: zone)?.iso8601
    }

    private func quiet(_ text: String) -> SinkHours? { QuietHours(text).map { .quiet($0) } }

    @Test func quietHoursHoldFromTheirBeginToTheirEnd() throws {
        let hours = quiet("12:30-14:00")
        #expect(try opening(hours, "2026-01-10T12:29:59.999Z") == nil)
        #expect(try opening(hours, "2026-01-10T12:30:00Z") == "2026-01-10T14:00:00.000Z")
        #expect(try opening(hours, "2026-01-10T13:59:59.999Z") == "2026-01-10T14:00:00.000Z")
        #expect(try opening(hours, "2026-01-10T14:00:00Z") == nil)
    }

    @Test func quietHoursOverMidnightEndOnTheNextDay() throws {
        let (hours, zone) = (quiet("22:00-07:00"), try FoundationZone("Europe/Zurich"))
        #expect(try opening(hours, "2026-01-10T20:59:59Z", zone: zone) == nil)
        #expect(try opening(hours, "2026-01-10T21:00:00Z", zone: zone) == "2026-01-11T06:00:00.000Z")
        #expect(try opening(hours, "2026-01-11T05:59:59Z", zone: zone) == "2026-01-11T06:00:00.000Z")
        #expect(try opening(hours, "2026-01-11T06:00:00Z", zone: zone) == nil)
    }

    @Test func aNightOfAChangeOfClocksEndsByTheNewTime() throws {
        let (hours, zone) = (quiet("22:00-07:00"), try FoundationZone("Europe/Zurich"))
        #expect(try opening(hours, "2026-03-28T22:30:00Z", zone: zone) == "2026-03-29T05:00:00.000Z")
        #expect(try opening(hours, "2026-10-24T20:30:00Z", zone: zone) == "2026-10-25T06:00:00.000Z")
    }

    @Test func anEndThatTheClockSkipsIsRightAfterTheGap() throws {
        let zone = try FoundationZone("Europe/Zurich")
        #expect(try opening(quiet("23:30-02:30"), "2026-03-29T00:30:00Z", zone: zone) == "2026-03-29T01:00:00.000Z")
        #expect(try opening(quiet("23:30-02:30"), "2026-03-29T01:00:00Z", zone: zone) == nil)
        // Both times are in the gap. The hours within a day vanish; those over midnight open for a moment.
        #expect(try opening(quiet("02:15-02:45"), "2026-03-29T00:59:59Z", zone: zone) == nil)
        #expect(try opening(quiet("02:15-02:45"), "2026-03-29T01:00:00Z", zone: zone) == nil)
        #expect(try opening(quiet("02:45-02:15"), "2026-03-29T00:30:00Z", zone: zone) == "2026-03-29T01:00:00.000Z")
        #expect(try opening(quiet("02:45-02:15"), "2026-03-29T01:00:00Z", zone: zone) == "2026-03-30T00:15:00.000Z")
    }

    @Test func aRepeatedTimeCountsTheFirstTime() throws {
        let zone = try FoundationZone("Europe/Zurich")
        #expect(try opening(quiet("23:30-02:30"), "2026-10-25T00:29:59Z", zone: zone) == "2026-10-25T00:30:00.000Z")
        #expect(try opening(quiet("23:30-02:30"), "2026-10-25T01:15:00Z", zone: zone) == nil)
        #expect(try opening(quiet("02:15-02:45"), "2026-10-25T00:20:00Z", zone: zone) == "2026-10-25T00:45:00.000Z")
        #expect(try opening(quiet("02:15-02:45"), "2026-10-25T01:20:00Z", zone: zone) == nil)
    }

    @Test(arguments: ["Europe/Zurich", "America/New_York", "Australia/Lord_Howe"])
    func aYearOfNightsIsQuietByTheClockOnTheWall(_ name: String) throws {
        let zone = try TableZone.foundation(name, years: 2026...2026)
        let hours = try #require(quiet("22:00-07:00"))
        for minutes in stride(from: Int64(0), to: 365 * 1440, by: 73) {
            let time = try at("2026-01-01T00:00:00Z") + .seconds(minutes * 60)
            let hour = CivilTime(time, offsetSeconds: zone.offsetSeconds(at: time)).hour
            let opening = hours.opens(after: time, in: zone)
            #expect((opening != nil) == (hour >= 22 || hour < 7), "\(time.iso8601)")
            guard let opening else { continue }
            let local = CivilTime(opening, offsetSeconds: zone.offsetSeconds(at: opening))
            #expect(opening > time && opening - time <= .seconds(10 * 3600) && local.hour == 7 && local.minute == 0)
        }
    }

    @Test func timesOfTheDayHoldUntilTheNextOfThem() throws {
        let hours = SinkHours.deliverAt(["17:30", "08:00"].compactMap(DayTime.init))
        let zone = try FoundationZone("Europe/Zurich")
        #expect(try opening(hours, "2026-01-10T06:59:59Z", zone: zone) == "2026-01-10T07:00:00.000Z")
        #expect(try opening(hours, "2026-01-10T07:00:00Z", zone: zone) == "2026-01-10T16:30:00.000Z")
        #expect(try opening(hours, "2026-01-10T17:00:00Z", zone: zone) == "2026-01-11T07:00:00.000Z")
        let gap = SinkHours.deliverAt(["02:30"].compactMap(DayTime.init))
        #expect(try opening(gap, "2026-03-29T00:00:00Z", zone: zone) == "2026-03-29T01:00:00.000Z")
        #expect(try opening(gap, "2026-10-24T12:00:00Z", zone: zone) == "2026-10-25T00:30:00.000Z")
        #expect(try opening(gap, "2026-10-25T00:30:00Z", zone: zone) == "2026-10-26T01:30:00.000Z")
    }

    @Test func onlyQuietHoursHoldBackARetry() throws {
        let night = try at("2026-01-10T23:00:00Z")
        #expect(quiet("22:00-07:00")?.resumes(after: night, in: FixedZone.utc) == night + .seconds(8 * 3600))
        #expect(quiet("01:00-07:00")?.resumes(after: night, in: FixedZone.utc) == nil)
        let times = SinkHours.deliverAt(["08:00"].compactMap(DayTime.init))
        #expect(times.resumes(after: night, in: FixedZone.utc) == nil)
    }

    @Test(arguments: [
        "22:00", "22:00-", "-07:00", "22:00-22:00", "22:00-24:00", "22-7", "22:00-07:00-08:00", "22:00 - 07:00", "",
        "22:00–07:00",
    ])
    func whatIsNotTwoDifferentTimesIsRefused(_ text: String) { #expect(QuietHours(text) == nil) }

    @Test func quietHoursReadBackAsTheyArePrinted() { #expect(QuietHours("22:00-07:05")?.description == "22:00-07:05") }
}

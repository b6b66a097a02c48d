import Foundation
import StarwatchCore
import Testing

@Suite struct TimestampTests {
    private let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()

    @Test func civilTimesAgreeWithFoundationsCalendar() {
        var random = SplitMix64(seed: 6)
        for _ in 0..<2000 {
            // Years 1700 to 2500, and a random offset.
            let time = Timestamp(
                milliseconds: Int64.random(in: -8_520_336_000_000...16_725_225_600_000, using: &random)
            )
            let offset = Int.random(in: -50_400...50_400, using: &random)
            let civil = CivilTime(time, offsetSeconds: offset)
            let date = Date(timeIntervalSince1970: Double(time.wholeSeconds + Int64(offset)))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            #expect(civil.year == parts.year && civil.month == parts.month && civil.day == parts.day)
            #expect(civil.hour == parts.hour && civil.minute == parts.minute && civil.second == parts.second)
            #expect(civil.weekday + 1 == parts.weekday)
            #expect(civil.timestamp(offsetSeconds: offset) == time)
        }
    }

    @Test func everyDayOfFourCenturiesFollowsThePreviousOne() {
        var (year, month, day) = (1800, 1, 1)
        for days in CivilTime.days(year: 1800, month: 1, day: 1)..<CivilTime.days(year: 2200, month: 1, day: 1) {
            let found = CivilTime.civil(fromDays: days)
            guard found == (year, month, day), CivilTime.days(year: year, month: month, day: day) == days else {
                Issue.record("\(found) is not \(year)-\(month)-\(day)")
                return
            }
            day += 1
            if day > CivilTime.daysInMonth(year: year, month: month) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }

    @Test func timesRoundTrip() {
        var random = SplitMix64(seed: 9)
        for _ in 0..<2000 {
            let time = Timestamp(
                milliseconds: Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            )
            #expect(Timestamp(iso8601: time.iso8601) == time)
        }
    }

    @Test(
        arguments: [
            ("2026-01-01T12:00:00Z", 1_767_268_800_000), ("2026-01-01 12:00:00.5Z", 1_767_268_800_500),
            ("2026-01-01T12:00:00.123456789Z", 1_767_268_800_123), ("2026-01-01T13:00:00+01:00", 1_767_268_800_000),
            ("2026-01-01t07:30:00.000-04:30", 1_767_268_800_000), ("1969-12-31T23:59:59.999Z", -1),
        ] as [(String, Int64)]
    )
    func rfc3339Parses(text: String, milliseconds: Int64) {
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026-01-01", "2026-01-01T12:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T12:00:00.Z", "2026-01-01T12:00:00+0100", "2026-01-01T12:00:00Zx",
        "2026-01-01T12:00:00+24:00", "2026/01/01T12:00:00Z", "20260101T120000Z", "2026-01-01X12:00:00Z",
        "٢٠٢٦-01-01T12:00:00Z",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test func arithmeticIsInWholeMilliseconds() {
        let time = Timestamp(milliseconds: -1)
        #expect(time.wholeSeconds == -1)
        #expect(Timestamp(milliseconds: -1000).wholeSeconds == -1)
        #expect(Timestamp(milliseconds: 1999).wholeSeconds == 1)
        #expect(time + .microseconds(1999) == Timestamp(milliseconds: 0))
        #expect(Timestamp(seconds: 5) - Timestamp(seconds: 7) == .seconds(-2))
        #expect(Timestamp(seconds: 5) - .seconds(7) == Timestamp(seconds: -2))
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
        // A server can say that it is the year 1 or 9999.
        #expect(Duration.seconds(-62_000_000_000).inSeconds == -62_000_000_000)
        #expect(Duration.seconds(252_000_000_000).inSeconds == 252_000_000_000)
        let noisy = (0...3000).filter { Duration.milliseconds($0).inSeconds != Double($0) / 1000 }
        #expect(noisy.isEmpty, "Durations in seconds have float noise.")
        #expect(Duration.milliseconds(-1500).wholeMilliseconds == -1500)
    }
}

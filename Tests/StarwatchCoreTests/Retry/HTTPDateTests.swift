import StarwatchCore
import Testing

@Suite struct HTTPDateTests {
    private let now = Timestamp(seconds: 1_767_225_600)  // 2026-01-01

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func allThreeFormsParse(text: String) throws {
        #expect(HTTPDate.parse(text, now: now) == (try at("1994-11-06T08:49:37Z")))
    }

    @Test func twoDigitYearsAreNeverFiftyYearsAhead() throws {
        #expect(HTTPDate.parse("Wednesday, 01-Jan-76 00:00:00 GMT", now: now) == (try at("2076-01-01T00:00:00Z")))
        #expect(HTTPDate.parse("Saturday, 01-Jan-77 00:00:00 GMT", now: now) == (try at("1977-01-01T00:00:00Z")))
        let late = try at("2099-06-01T00:00:00Z")
        #expect(HTTPDate.parse("Friday, 01-Jan-10 00:00:00 GMT", now: late) == (try at("2110-01-01T00:00:00Z")))
    }

    @Test(arguments: [
        "", "garbage", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test func datesRoundTrip() {
        var random = SplitMix64(seed: 4)
        for _ in 0..<1000 {
            let time = Timestamp(seconds: Int64.random(in: 0...100_000_000_000, using: &random))
            #expect(HTTPDate.parse(HTTPDate.format(time), now: now) == time)
        }
        #expect(HTTPDate.format(Timestamp(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120), (" 7 ", 7), ("99999999999", 2_147_483_647),
            ("99999999999999999999999", 2_147_483_647),
            ("Thu, 01 Jan 2026 00:01:00 GMT", 90), ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ] as [(String, Int64)]
    )
    func retryAfterDatesAreRelativeToTheirAnswer(value: String, seconds: Int64) {
        // The server's clock is 30 s behind, and the date is relative to it.
        let wait = RetryAfter.parse(value, answerDate: now - .seconds(30), now: now)
        #expect(wait == .seconds(seconds))
    }

    @Test func retryAfterDatesFallBackToTheLocalClock() {
        #expect(RetryAfter.parse("Thu, 01 Jan 2026 00:01:00 GMT", answerDate: nil, now: now) == .seconds(60))
    }

    @Test(arguments: ["", " ", "-1", "+5", "1.5", "5s", "soon", "٣"])
    func garbageIsNoWait(value: String) {
        #expect(RetryAfter.parse(value, answerDate: nil, now: now) == nil)
    }
}

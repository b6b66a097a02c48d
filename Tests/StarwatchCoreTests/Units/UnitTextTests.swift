import Testing

@testable import StarwatchCore

@Suite struct UnitTextTests {
    @Test(
        arguments: [
            ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("4h", 14_400_000), ("7d", 604_800_000),
            ("1h30m", 5_400_000), ("1d2h3m4s5ms", 93_784_005), ("0s", 0), ("90m", 5_400_000),
            ("36500d", 3_153_600_000_000),
        ] as [(String, Int64)]
    )
    func durationsParse(text: String, milliseconds: Int64) throws {
        #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "5", "s", "-5s", "+5s", "1.5h", "5 s", " 5s", "5S", "30m1h", "1h1h", "5w", "5us", "1h30", "٣s", "1m s",
    ])
    func invalidDurationsAreRejected(text: String) {
        let error = #expect(throws: UnitTextError.self) { try DurationText.parse(text) }
        #expect(error == .duration(text))
        let says = DurationText.intended(by: text).map { "; write \($0)." } ?? "1h30m"
        #expect(error?.description.contains(says) == true)
    }

    @Test(
        arguments: [("5", "5s"), ("5 s", "5s"), ("5S", "5s"), ("30 minutes", "30m"), ("2 hrs", "2h"), ("5w", nil)]
            as [(String, String?)]
    )
    func theIntendedDurationIsGuessed(text: String, intended: String?) {
        #expect(DurationText.intended(by: text) == intended)
    }

    @Test(arguments: [("10MB", "10MiB"), ("64 kb", "64KiB"), ("1G", "1GiB"), ("5 stones", nil)] as [(String, String?)])
    func theIntendedSizeIsGuessed(text: String, intended: String?) {
        #expect(ByteSizeText.intended(by: text) == intended)
    }

    @Test(arguments: ["36501d", "99999999999999999999s", "9223372036854775807ms", "36500d1ms"])
    func durationsHaveALimit(text: String) {
        #expect(throws: UnitTextError.durationTooLong(text)) { try DurationText.parse(text) }
    }

    @Test func durationsRoundTrip() throws {
        var random = SplitMix64(seed: 11)
        for _ in 0..<500 {
            let duration = Duration.milliseconds(Int64.random(in: 0...10_000_000_000, using: &random))
            #expect(try DurationText.parse(DurationText.format(duration)) == duration)
        }
        #expect(DurationText.format(.seconds(5400)) == "1h30m")
        #expect(DurationText.format(.zero) == "0s")
        #expect(DurationText.format(.milliseconds(-1500)) == "-1s500ms")
    }

    @Test(arguments: [
        ("512", 512), ("512B", 512), ("64KiB", 65_536), ("10MiB", 10_485_760), ("2GiB", 1 << 31), ("0", 0),
    ])
    func sizesParse(text: String, bytes: Int) throws {
        #expect(try ByteSizeText.parse(text) == bytes)
        #expect(try ByteSizeText.parse(ByteSizeText.format(bytes)) == bytes)
    }

    @Test(arguments: ["", "KiB", "64KB", "64kib", "64 KiB", "-1", "1.5MiB", "64KiBB"])
    func invalidSizesAreRejected(text: String) {
        #expect(throws: UnitTextError.byteSize(text)) { try ByteSizeText.parse(text) }
    }

    @Test func sizesHaveALimit() {
        let text = "9999999999999GiB"
        #expect(throws: UnitTextError.byteSizeTooLarge(text)) { try ByteSizeText.parse(text) }
        #expect(ByteSizeText.format(10_485_760) == "10MiB")
        #expect(ByteSizeText.format(1000) == "1000")
    }
}

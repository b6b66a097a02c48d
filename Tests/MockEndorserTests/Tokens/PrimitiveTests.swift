import Foundation
import Testing

@testable import MockEndorser

@Suite struct PrimitiveTests {
    @Test(arguments: [
        ("", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        ("abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
    ])
    func keccakMatchesKnownHashes(text: String, hash: String) {
        let bytes = Keccak256.hash(Array(text.utf8))
        #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hash)
    }

    @Test(arguments: [135, 136, 137]) func keccakPadsAroundABlock(count: Int) {
        let hashes = Set((0...1).map { Keccak256.hash([UInt8](repeating: $0, count: count)) })
        #expect(hashes.count == 2 && hashes.allSatisfy { $0.count == 32 })
    }

    @Test(arguments: [
        (HTTPDateForm.imfFixdate, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (.rfc850, "Sunday, 06-Nov-94 08:49:37 GMT"), (.asctime, "Sun Nov  6 08:49:37 1994"),
    ])
    func datesHaveTheirFormats(form: HTTPDateForm, text: String) {
        #expect(ClockText.http(784_111_777, form) == text)
    }

    @Test func isoTimesSupportLeapDays() {
        #expect(ClockText.iso(1_709_164_799) == "2024-02-28T23:59:59Z")
        #expect(ClockText.iso(1_709_164_800) == "2024-02-29T00:00:00Z")
        #expect(ClockText.iso(0) == "1970-01-01T00:00:00Z")
    }

    @Test func stringsAreEscaped() {
        #expect(String(decoding: JSONValue.string("a\"\\\n\u{1}é").bytes, as: UTF8.self) == #""a\"\\\u000a\u0001é""#)
    }

    @Test func slidingWindowTakesAllOrNone() {
        var window = SlidingWindow()
        let now = HandClock().now
        #expect(window.take(3, of: 4, at: now) == 1)
        #expect(window.take(2, of: 4, at: now) == nil)
        #expect(window.take(1, of: 4, at: now) == 0)
        #expect(window.take(1, of: 4, at: now.addingTimeInterval(60)) == 3)
    }
}

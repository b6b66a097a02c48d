import StarwatchCore
import Testing

@Suite struct JSONTextTests {
    @Test(arguments: ["{}", "[]", "null", "1", #""text""#, #"{"a":[1,{"b":"\u00fc"}]} "#])
    func oneWholeValueIsValid(text: String) {
        #expect(JSONText.isValid(Array(text.utf8)))
    }

    @Test(arguments: ["", "{", #"{"a":1"#, "{}{}", "{} x", "<html>", "\0"])
    func anythingElseIsInvalid(text: String) {
        #expect(!JSONText.isValid(Array(text.utf8)))
    }

    /// Arrays within an array: `count` of them, each with `size` numbers.
    private static func arrays(_ count: Int, of size: Int) -> String {
        let array = "[" + Array(repeating: "1", count: size).joined(separator: ",") + "]"
        return "[" + Array(repeating: array, count: count).joined(separator: ",") + "]"
    }

    private static func nested(_ count: Int) -> String {
        String(repeating: #"{"a":["#, count: count / 2) + String(repeating: "]}", count: count / 2)
    }

    private static let bounded = [
        nested(64), String(repeating: "[]", count: 100), arrays(1, of: 10_000), arrays(60, of: 8000),
        "{" + Array(repeating: "\"a\":1", count: 100_000).joined(separator: ",") + "}",
        "[\"" + String(repeating: "[,\\\"", count: 20_000) + "\\\\\",1]",
    ]
    private static let unbounded = [
        nested(66), arrays(1, of: 10_001), arrays(65, of: 8000), "[" + String(repeating: "{},", count: 10_000) + "{}]",
        "[\"\\\\\"," + nested(64) + "]",
    ]

    @Test(arguments: bounded.map { ($0, true) } + unbounded.map { ($0, false) })
    func depthAndNumbersOfItemsAndValuesAreBounded(text: String, isBounded: Bool) {
        #expect(JSONText.isBounded(Array(text.utf8)) == isBounded)
    }

    @Test func bracketsOfUTF16DoNotPassUnseen() {
        // U+2222 has the byte of a quote twice or once.
        let text = "[\"\u{2222}\u{2261}\"," + String(repeating: "[", count: 400) + String(repeating: "]", count: 401)
        #expect(!JSONText.isBounded(text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }))
        #expect(!JSONText.isBounded(text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }))
        #expect(
            !JSONText.isBounded(text.unicodeScalars.flatMap { [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xff)] })
        )
    }

    @Test(arguments: unbounded)
    func anyDepthAndNumberOfValuesIsValid(text: String) {
        #expect(JSONText.isValid(Array(text.utf8)))
        #expect(!JSONText.isValid(Array((text.dropLast() + "}}").utf8)))
    }

    @Test func aMillionOpenBracketsAreNoJSON() {
        #expect(!JSONText.isValid(Array(String(repeating: "[", count: 1_000_000).utf8)))
    }

    @Test func invalidUTF8IsInvalid() {
        #expect(!JSONText.isValid(Array(#"{"a":""#.utf8) + [0xc0, 0xaf, 0x22, 0x7d]))
    }
}

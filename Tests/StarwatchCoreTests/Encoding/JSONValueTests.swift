import Foundation
import Testing

@testable import StarwatchCore

@Suite struct JSONValueTests {
    private static let keys = JSONKeys(["a", "b", "fulfillsPlanHandleId"], list: "a")

    private func read<Result>(_ text: String, _ body: (JSONValue) -> Result?) -> Result? {
        JSONValue.read(Array(text.utf8), keys: Self.keys, body) ?? nil
    }

    @Test(arguments: [
        #""plain""#, #""""#, #""Märchen 😀""#, #""\"\\\/\b\f\n\r\t""#, #""\u00e9\u0000""#, #""\ud83d\ude00""#,
        #""1234567é""#, #""12345678é""#, #""1234567\n""#, #""123456789012345\"""#, "\"\u{feff}\u{7f}\"",
        // Not texts.
        #""\q""#, #""\u00g0""#, "\"a\tb\"", "\"1234567\u{1f}\"", "1",
        "null",
        "{}",
    ])
    func textsAreThoseOfFoundation(text: String) throws {
        let expected = try? JSONDecoder().decode(String.self, from: Data(text.utf8))
        #expect(read(text) { $0.text } == expected)
        #expect(read(text) { $0.withUTF8 { String(decoding: $0, as: UTF8.self) } } == expected)
        // In an array, after bytes that move it.
        for count in 1...9 {
            let list = #"["\#(String(repeating: "x", count: count))", \#(text)]"#
            #expect(read(list) { Array($0.elements).last?.text } == expected)
        }
    }

    @Test(arguments: [
        "0", "-0", "-0.0", "1", "40.7128", "-74.0060", "0.1", "123456789012345678", "9007199254740993", "1e5", "1E+05",
        "1.5e-3",
        "12345678901234567890123", "0.000000000000000001", "0.1234567890123456789", "1e308", "1e-308", "4.9e-324",
        "1e22",
        "5e-324", "179769313486231570000000000000000000000",
        // Not numbers, or not representable.
        "01", "-", "1.", "1.e5", "-.5", "1e", "1e+", "1-2", "1.2.3", "1e5e5", "1e999", "-1e999", "1e-999", "true",
    ])
    func numbersAreThoseOfFoundation(text: String) throws {
        let expected = try? JSONDecoder().decode([Double].self, from: Data("[\(text)]".utf8)).first
        let found = read("[\(text)]") { Array($0.elements).first?.number }
        #expect(found == expected && found?.sign == expected?.sign)
    }

    @Test(arguments: [
        "{", "[", "\"", "\"\\", "\"\\u00\"", "\"\\u123\"x", "tru", "nul", "[1 2]", "[,]", "[1,,2]", "{,}", #"{"a"}"#,
        #"{"a":}"#, "{1:2}", #"{"a":1 "b":2}"#, "[1]]", "{}{}", "", " ", "\u{1}", "[1}", "{]", "'a'", "NaN", "+1", ".5",
        "/**/1",
        // Foundation accepts these.
        "[1,]", #"{"a":1,}"#, "[1-2]", " [ ] ", "\u{feff}{}", #"["\q"]"#, "[\"\t\"]", #"{"\q":1}"#, "[01]", "\r\n\t 1 ",
    ])
    func whatFoundationParsesIsJSON(text: String) {
        let isJSON = (try? JSONDecoder().decode(Anything.self, from: Data(text.utf8))) != nil
        #expect((read(text) { _ in true } != nil) == isJSON)
        #expect(JSONText.isValid(Array(text.utf8)) == isJSON)
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    @Test func textsThatNobodyReadsMustBeUTF8Too() {
        for bytes in [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0xe2]]
            as [[UInt8]]
        {
            for text in [[0x22] + bytes + [0x22], Array("{\"".utf8) + bytes + Array("\":1}".utf8)] {
                #expect(JSONValue.read(text, keys: Self.keys) { _ in true } == nil)
            }
            for escape in ["\\", "\\u000", "\\u00"] {
                let text = Array("\"\(escape)".utf8) + bytes + Array("   \"".utf8)
                #expect(JSONValue.read(text, keys: Self.keys) { _ in true } == nil)
            }
        }
        #expect(
            JSONValue.read(Array(#""é""#.utf16.flatMap { [UInt8($0 & 255), 0] }), keys: Self.keys) { _ in true } == nil
        )
    }

    @Test func theFirstOfTwoMembersCounts() {
        let number = { (text: String) in read(text) { $0[0]?.number } }
        #expect(number(#"{"b":2,"a":1,"a":3}"#) == 1)
        #expect(number(#"{"\u0061":4}"#) == 4)
        #expect(number(#"{"A":1,"aa":2,"":3}"#) == nil)
        #expect(number(#"[{"a":1}]"#) == nil)
        #expect(read(#"{"fulfillsPlanHandleIe":1,"fulfillsPlanHandleId":2}"#) { $0[2]?.number } == 2)
    }

    /// JavaScript's texts can have one, and Foundation rejects it.
    @Test(arguments: [
        (#""\ud83d""#, "\u{fffd}"), (#""\ude00b""#, "\u{fffd}b"), (#""\ud83d\u0041""#, "\u{fffd}A"),
        (#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"), (#""\ud83d\n""#, "\u{fffd}\n"),
    ])
    func halfOfASurrogatePairIsReplaced(text: String, expected: String) {
        #expect(read(text) { $0.text } == expected)
    }

    @Test func anObjectWithANameThatIsNoTextIsNoObject() {
        #expect(read(#"{"a":{"b":1,"\q":2}}"#) { $0[0]?.isObject } == false)
        #expect(read(#"{"a":{"b":1,"\ud800":2}}"#) { $0[0]?.isObject } == true)
        #expect(read(#"{"a":{"b":1,"\ud83d\ude00":2}}"#) { $0[0]?.isObject } == true)
    }

    @Test(arguments: [
        String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000),
        String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000),
        "[" + Array(repeating: "1", count: 20_000).joined(separator: ",") + "]",
        #"{"\ud800":[{"x":[1,{}]},"]}"]}"#, "[[],{},[{}],]",
    ])
    func whatNobodyAsksForIsSkippedWithoutABound(value: String) {
        for text in [#"{"x":\#(value),"b":7}"#, #"{"b":7,"x":\#(value)}"#, #"{"a":\#(value),"b":7}"#] {
            #expect(read(text) { $0[1]?.number } == 7)
            #expect(read(String(text.dropLast())) { _ in true } == nil)
        }
        let list = #"{"a":[{"x":\#(value)},{"b":\#(value),"a":3}]}"#
        #expect(read(list) { Array($0[0]!.elements).last?[0]?.number } == 3)
    }

    /// Each node takes memory, so only what a reader asks for has one.
    @Test func onlyTheListHasElements() {
        #expect(read(#"{"a":[1,2,3]}"#) { $0[0]?.count } == 3)
        #expect(read(#"{"b":[1,2,3]}"#) { $0[1]?.count } == 0)
        #expect(read(#"{"b":{"a":[1,2,3]}}"#) { $0[1]?[0]?.count } == 0)
        let claim = #"{"data":[[1],[2]],"name":[3],"x":{"name":"4"}}"#
        let text = Array(#"{"data":[{"plan":{"jwtId":"a"},"fullClaim":\#(claim),"claim":\#(claim)}]}"#.utf8)
        let nodes = text.withUnsafeBufferPointer { JSONParser.nodes(of: $0, keys: PageKey.table) }
        // The page, data, the item, plan, jwtId, both claims, and in each data and name.
        #expect(nodes?.count == 11)
    }

    @Test func valuesHaveTheirPlaces() {
        let name = { (key: UInt8) in ["a", "b"][Int(key)] }
        #expect(read("[]") { $0.path(name) } == "$")
        #expect(read(#"{"a":[0,[1],{"b":5}]}"#) { Array($0[0]!.elements).last?[1]?.path(name) } == "$.a[2].b")
    }
}

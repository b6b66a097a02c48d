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

    @Test func invalidUTF8IsInvalid() {
        #expect(!JSONText.isValid(Array(#"{"a":""#.utf8) + [0xc0, 0xaf, 0x22, 0x7d]))
    }
}

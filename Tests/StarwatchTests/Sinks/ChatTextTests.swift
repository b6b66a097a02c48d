import Testing

@testable import Starwatch

/// The escapes of the services' markup.
@Suite struct ChatTextTests {
    /// An accent, a variation selector and a joiner are one character with the sign before them, but no part of the markup.
    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}x", "\u{20E3}"])
    func aSignWithACombiningMarkIsEscapedLikeTheSignAlone(mark: String) {
        let cases: [(ChatText, sign: String, escaped: String)] = [
            (.html, "<", "&lt;"), (.html, "&", "&amp;"), (.html, "@", "@\u{200B}"), (.slack, "<", "&lt;"),
            (.discord, "*", "\\*"), (.discord, "@", "@\u{200B}"), (.mattermost, "*", "\\*"),
            (.mattermost, "[", "&#91;"),
        ]
        for (form, sign, escaped) in cases {
            let (text, expected) = (form("a\(sign)\(mark)b", limit: 100), "a\(escaped)\(mark)b")
            #expect(text.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(sign): \(text)")
        }
    }

    /// The cut is still at characters.
    @Test func aCharacterOfSeveralScalarsIsNeverCut() {
        let text = String(repeating: "<\u{301}", count: 10)
        #expect(ChatText.html(text, limit: 49) == String(repeating: "&lt;\u{301}", count: 9) + "…")
        #expect(ChatText.html(text, limit: 50) == String(repeating: "&lt;\u{301}", count: 10))
    }

    /// Mattermost shows any other backslash.
    @Test func mattermostGetsABackslashOnlyBeforeASignThatItUnescapes() {
        #expect(ChatText.mattermost("a new offer: a\\b", limit: 100) == "a new offer:\u{200B} a&#92;b")
        let signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
        let text = Array(ChatText.mattermost(signs, limit: 1000).unicodeScalars)
        for (index, scalar) in text.enumerated() where scalar == "\\" {
            #expect("`*{}[]()#+-.!_>|~".unicodeScalars.contains(text[index + 1]), "\(text[index + 1])")
        }
        // It makes a link of <address|words> before it reads Markdown.
        #expect(!ChatText.mattermost("<https://evil.test|x>", limit: 100).contains { "<>|".contains($0) })
    }

    @Test func slackGetsItsThreeEntitiesAndNoOther() {
        #expect(ChatText.slack("A \"quoted\" & <b>", limit: 100) == "A \"quoted\" &amp; &lt;b&gt;")
        #expect(ChatText.slack("*x* _y_", limit: 100) == "*\u{200B}x*\u{200B} _\u{200B}y_\u{200B}")
    }
}

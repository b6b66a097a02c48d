import StarwatchCore
import Testing

@Suite struct BidiTextTests {
    @Test(arguments: [
        "a", "Garden 2", "Café 😀", "\u{202a}a\u{202c}", "\u{2067}a\u{202b}b\u{202c}c\u{2069}", "\u{200e}a",
    ])
    func balancedTextStays(text: String) {
        #expect(Array(BidiText.balanced(text).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(arguments: [
        ("\u{202e}evil", "evil"), ("a\u{202c}b", "ab"), ("a\u{2069}b", "ab"), ("\u{2067}a", "a"),
        ("\u{202e}a\u{2069}b\u{202c}", "\u{202e}ab\u{202c}"),
        ("\u{2068}\u{202e}a\u{2069}b", "\u{2068}a\u{2069}b"),
        ("\u{202a}\u{2066}a\u{202c}\u{2069}\u{202c}", "\u{202a}\u{2066}a\u{2069}\u{202c}"),
    ])
    func unbalancedControlsGo(text: String, expected: String) {
        #expect(Array(BidiText.balanced(text).unicodeScalars) == Array(expected.unicodeScalars))
    }

    /// On a page, a person must see what would reorder its text.
    @Test(arguments: [
        ("Garden", "Garden"), ("גן", "גן"), ("\u{2068}גן\u{2069}", "\u{2068}גן\u{2069}"),
        ("\u{202e}evil", "[U+202E]evil"), ("\u{202a}a\u{202c}", "[U+202A]a[U+202C]"), ("\u{2067}a", "[U+2067]a"),
        ("\u{2068}\u{202e}a\u{202c}\u{2069}", "\u{2068}[U+202E]a[U+202C]\u{2069}"), ("a\u{2069}b", "a[U+2069]b"),
    ])
    func controlsThatReorderTextAreVisible(text: String, expected: String) {
        #expect(Array(BidiText.visible(text).unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func aNameThatCouldTurnTheTextAroundItIsIsolated() {
        #expect(BidiText.isolated("\u{202e}evil") == "evil")
        #expect(BidiText.isolated("גן") == "\u{2068}גן\u{2069}")
        #expect(BidiText.isolated("\u{202e}evil\u{202c}") == "\u{2068}\u{202e}evil\u{202c}\u{2069}")
        #expect(BidiText.isolated("Garden") == "Garden")
        #expect(BidiText.isolated("C++", isRightToLeft: true) == "\u{2068}C++\u{2069}")
    }
}

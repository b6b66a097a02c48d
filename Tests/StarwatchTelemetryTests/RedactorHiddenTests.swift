import Testing

@testable import StarwatchTelemetry

/// Secrets written with HTML entities, full-width forms, and characters without width.
@Suite struct RedactorHiddenTests {
    @Test(arguments: [
        "did&#58;ethr&#58;0xabc", "did&#x3a;ethr&#x3A;0xabc", "did&colon;ethr&colon;0xabc", "did&#0058;ethr&#58;0xabc",
        "&#100;id:ethr:0xabc", "did&amp;#58;ethr&amp;colon;0xabc", "did&#38;#58;ethr:0xabc", "did&#58ethr:0xabc",
        "did%26%2358%3Bethr:0xabc", #"did\u0026#58;ethr:0xabc"#, "did：ethr：0xabc", "ｄｉｄ:ethr:0xabc",
        "did:ethr:０ｘａｂｃ", #"did\uff1aethr\uFF1A0xabc"#, #"did\\uff1aethr:0xabc"#, "did%EF%BC%9Aethr%ef%bc%9a0xabc",
        "did%25EF%25BC%259Aethr:0xabc", "did&#xff1a;ethr&#65306;0xabc", "d\u{200B}id:ethr:0xabc",
        "did\u{FEFF}:ethr:0xabc",
        "did:\u{2060}ethr:0xabc", "di\u{AD}d:ethr:0xabc", "did\u{200D}\u{200C}:ethr:0xabc", #"di\u200bd:ethr:0xabc"#,
        "di%E2%80%8Bd:ethr:0xabc", "di&#8203;d:ethr:0xabc", "di&ZeroWidthSpace;d:ethr:0xabc", "di&shy;d:ethr:0xabc",
        "did:\u{202E}ethr:0xabc", "did\u{FE0F}:ethr:0xabc",
    ])
    func everyDisguiseOfADIDIsReplaced(text: String) {
        for (before, after) in [
            ("", ""), ("by ", ", then"), (#"{"e":""#, #"","x":1}"#), ("é ", " é"), ("a&b ", " &amp;"),
        ] {
            expectRedacted(before + text + after, before + "[REDACTED:did]" + after)
        }
    }

    @Test(arguments: [
        ("01ARZ3NDEKTSV4RRFFQ6\u{200B}9G5FAV", "[REDACTED:id]"), ("０1ARZ3NDEKTSV4RRFFQ69G5FAV", "[REDACTED:id]"),
        ("1704067200&#95;abC123&lowbar;0f1e2d3c", "[REDACTED:id]"), ("joe&commat;example&period;org", "[REDACTED:id]"),
        ("joe＠example．org", "[REDACTED:id]"), ("＋４１７９１２３４５６７", "[REDACTED:id]"),
        ("Bea\u{200B}rer abc", "Bea\u{200B}rer [REDACTED:token]"), ("token&#61;abc&x", "token&#61;[REDACTED:token]&x"),
        ("ｔｏｋｅｎ＝abc", "ｔｏｋｅｎ＝[REDACTED:token]"), ("whsec&#95;TWZLUTly", "[REDACTED:token]"),
        ("https&#58;//joe:pw@host", "https&#58;//[REDACTED:token]@host"),
        ("joe&colon;pw&commat;host", "[REDACTED:token]&commat;host"),
        ("&#45;----BEGIN KEY-----", "[REDACTED:token]"),
        (#"{"to\u200bken":"abc"}"#, #"{"to\u200bken":"[REDACTED:token]"}"#),
    ])
    func everyOtherSecretIsReplacedToo(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    /// A disguised quote is data, so it ends no string.
    @Test(arguments: [
        (#"{"token":"a&quot;b"}"#, #"{"token":"[REDACTED:token]"}"#),
        (#"{"token":"a＂b"}"#, #"{"token":"[REDACTED:token]"}"#),
        (#"{"token":"a\u200b\\"}"#, #"{"token":"[REDACTED:token]"}"#),
        ("token=a&#32;b", "token=[REDACTED:token]&#32;b"),
        ("Bearer did&#58;ethr:0x1", "Bearer [REDACTED:token][REDACTED:did]"),
        ("token=a\u{200B}b c", "token=[REDACTED:token] c"),
    ])
    func aDisguiseEndsNoSecret(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        "Zürich, 東京, Kraków 🌻", "did：", "a&b&c", "&#58;", "&colon;", "&amp;", "&", "&#", "&#x;", "&#99999999999;",
        "&#58",
        "&colon", "５％", "a\u{200B}b", "\u{FEFF}", "%EF%BC%9A", #"\uff1a"#, "%E2%80%8B", "caf%C3%A9", #"caf\u00e9"#,
        "%EF%BC",
        "\u{2028}", "～～", "did&semi;ethr:0xabc",
    ])
    func harmlessTextIsUnchanged(text: String) {
        expectRedacted(text, text)
    }
}

import Testing

@testable import StarwatchTelemetry

/// Data that names a person or lets them in: user information without a scheme, e-mail addresses and phone numbers.
@Suite struct RedactorPeopleTests {
    @Test(arguments: [
        ("joe:s3cr3t@host", "[REDACTED:token]@host"),
        ("at joe:s3cr3t@10.0.0.1:5432,", "at [REDACTED:token]@10.0.0.1:5432,"),
        ("url=joe:s3cr3t@host", "url=[REDACTED:token]@host"), ("(joe:p=a&b;c@host)", "([REDACTED:token]@host)"),
        ("joe:s3cr3t@db.example.org", "[REDACTED:token]@db.example.org"),
        ("//joe:pw@host/", "//[REDACTED:token]@host/"),
        ("joe:p@ss@host", "[REDACTED:token]@host"), ("joe%3As3cr3t%40host", "[REDACTED:token]%40host"),
        (#""joe:s3cr3t\u0040host""#, #""[REDACTED:token]\u0040host""#), ("joe:pw@[::1]", "[REDACTED:token]@[::1]"),
        (#"{"upstream":"joe:s3cr3t@host"}"#, #"{"upstream":"[REDACTED:token]@host"}"#),
        ("https://joe:pw@host.example", "https://[REDACTED:token]@host.example"),
        ("\(RedactorTests.ulid):pw@host", "[REDACTED:id][REDACTED:token]@host"),
    ])
    func credentialsWithoutASchemeAreReplaced(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        ("joe@example.org", "[REDACTED:id]"), ("<joe.b+c@mail.example.org>", "<[REDACTED:id]>"),
        ("mailto:a@b.ch", "mailto:[REDACTED:id]"), ("to joe@b.ch, ann@b.ch.", "to [REDACTED:id], [REDACTED:id]."),
        ("q=joe%40b.ch&x", "q=[REDACTED:id]&x"), ("q%3Djoe%2Bnews%40b%2Ech", "q%3D[REDACTED:id]"),
        (#"\njoe@b.ch\n"#, #"\n[REDACTED:id]\n"#), (#""joe\u0040b.ch""#, #""[REDACTED:id]""#),
        ("jürg@zürich.ch", "[REDACTED:id]"), ("git@github.com", "[REDACTED:id]"), ("a@b.c.museum", "[REDACTED:id]"),
    ])
    func emailAddressesAreReplaced(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        "@", "a@", "@b.ch", "a @ b", "joe@localhost", "swift-nio@2.101.2", "actions/checkout@v4.1", "user@10.0.0.1",
        "https://host/@name", "https://host/p@q", "3 @ 5.5 ms", "a@b.c", ":@host", "x:@host", "[REDACTED:token]@host",
    ])
    func otherAtSignsAreUnchanged(text: String) {
        expectRedacted(text, text)
    }

    @Test(arguments: [
        ("+41791234567", "[REDACTED:id]"), ("call +41 79 123 45 67.", "call [REDACTED:id]."),
        ("tel:+1-202-555-0123;", "tel:[REDACTED:id];"), ("+1 (202) 555-0123", "[REDACTED:id]"),
        ("+44 (0)20 7946 0958", "[REDACTED:id]"), ("+1.2025550123", "[REDACTED:id]"),
        ("(+4179123)4567", "([REDACTED:id]"),
        ("p=%2B41791234567&x", "p=[REDACTED:id]&x"), ("p%3D%2B4179%20123%2045%2067", "p%3D[REDACTED:id]"),
        (#"\n+41791234567\n"#, #"\n[REDACTED:id]\n"#), (#""\u002b41791234567""#, #""[REDACTED:id]""#),
        ("+81312345678", "[REDACTED:id]"), ("+123456789012345", "[REDACTED:id]"),
    ])
    func phoneNumbersAreReplaced(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        "2026-11-21T06:13:37+02:00", "2026-11-21T06:13:37.120+0200", "06:13:37 +1030", "1.2.3+20261121", "+5",
        "+1234567",
        "+1234567890123456", "1e+12345678", "C++ 12345678", "+12345678ms", "+12345678_9", "+1234 -5678", "+0123456789",
        "a+12345678", "+1 +2 +3 +4 +5 +6 +7 +8 +9", "192.168.100.100", "+192:168", "12345678 + 9", "+", "+(12345678)",
    ])
    func otherNumbersAreUnchanged(text: String) {
        expectRedacted(text, text)
    }
}

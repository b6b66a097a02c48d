import Testing

@testable import StarwatchTelemetry

/// Expects a text to be redacted to another, which is redacted to itself.
func expectRedacted(_ original: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let redactor = Redactor()
    let once = redactor.redacted(original)
    #expect(once == expected, sourceLocation: sourceLocation)
    #expect(redactor.redacted(once) == once, "not idempotent", sourceLocation: sourceLocation)
}

@Suite struct RedactorTests {
    static let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    static let canonical = "1704067200_abC123_0f1e2d3c"
    static let privateKey = "4c0883a69102937d6231471b5dbb6204fe512961708279f9d3b2c8a0e1f7CAFE"
    static let jwt = "eyJhbGciOiJFUzI1NksifQ.eyJpc3MiOiJkaWQ6ZXRocjoweCJ9.c2ln-bmF0_dXJl"

    private func check(_ original: String, _ expected: String) { expectRedacted(original, expected) }

    @Test(arguments: [
        ("did:key:z6MkabcDEF", "[REDACTED:did]"),
        ("by did:ethr:0xAbC123, then", "by [REDACTED:did], then"),
        ("did:ethr:0xabc.", "[REDACTED:did]."),
        ("did:peer:2.Ez6LS_x-y:z", "[REDACTED:did]"),
        ("did:web:example.com:user#key-1", "[REDACTED:did]"),
        ("did:key:z6Mk#z6Mk \"x\"", "[REDACTED:did] \"x\""),
        ("did%3Aethr%3A0xabc&limit=1", "[REDACTED:did]&limit=1"),
        ("did%3aethr%3a0xabc", "[REDACTED:did]"),
        ("did%253Aethr%253A0xabc", "[REDACTED:did]"),
        ("%64id:ethr:0xabc", "[REDACTED:did]"),
        ("%2564%69d%3Aethr%3A0xabc", "[REDACTED:did]"),
        (#"\u0064id:ethr:0xabc"#, "[REDACTED:did]"),
        (#"did\u003aethr\u003A0xabc""#, "[REDACTED:did]\""),
        (#"\\u0064\\u0069\\u0064\\u003aethr\\u003a0xabc\""#, #"[REDACTED:did]\""#),
        (#"\u00adid:ethr:0xabc"#, #"\u00ad[REDACTED:did]"#),
        ("DID:ETHR:0XABC", "[REDACTED:did]"),
        ("candid:ethr:0xabc", "can[REDACTED:did]"),
        ("https://x.ch/entity/did:ethr:0x1?q=1", "https://x.ch/entity/[REDACTED:did]?q=1"),
        ("did:ethr:0x1,did:ethr:0x2", "[REDACTED:did],[REDACTED:did]"),
    ])
    func everyEncodingOfADIDIsReplaced(original: String, expected: String) {
        check(original, expected)
    }

    @Test(arguments: [
        "did:hash:0123456789abcdef", #"{"identity":"did:hash:0123456789abcdef","x":1}"#,
        #"{"activeDid":"did:hash:0123456789abcdef"}"#, "did: not one", "did::x", "did:x", "did:key:", "I did: it: yes",
        "identity=did:hash:0123456789abcdef ok", "(did:hash:0123456789abcdef).",
    ])
    func pseudonymsAndProseAreUnchanged(text: String) {
        check(text, text)
    }

    @Test(arguments: ["did:hash:alice", "did:hash:0123456789abcdef0", "did:hash:0123456789ABCDEF", "did:hash:0123:x"])
    func invalidPseudonymsAreReplaced(text: String) {
        check(text, "[REDACTED:did]")
    }

    @Test(arguments: [ulid, canonical, ulid.lowercased(), "01ARZ3ndektsv4rrffq69g5fav"])
    func idsAreReplacedAsWholeWords(id: String) {
        for (before, after) in [
            ("", ""), ("\"", "\""), ("(", ")"), ("a ", "."), ("x=", "&"), ("/", "/"), ("-", "-"), (#"\n"#, #"\n"#),
            ("%2F", "%2C"), ("%252F", ""), (#"\u0022"#, ""), ("é", "é"), ("%", ""), ("\\", ""), ("jwtIds=", ","),
            ("_", "_"), ("plan_", "_v2"), ("%5F", "%5F"), ("%255F", ""), (#"\u005f"#, #"\u005f"#),
        ] {
            check(before + id + after, before + "[REDACTED:id]" + after)
        }
        for (before, after) in [("a", ""), ("", "a"), ("0", ""), ("", "Z"), ("_a", ""), ("", "a_")] {
            check(before + id + after, before + id + after)
        }
    }

    @Test(arguments: [
        "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FA", "91arz3ndektsv4rrffq69g5fav",
        "01arz3ndektsv4rrffq69g5fai",
        "1704067200_abC123_0F1E2D3C", "170406720a_abC123_0f1e2d3c", "1704067200-abC123-0f1e2d3c",
        "550e8400-e29b-41d4-a716-446655440000", "starred_projects_poll_duration_seconds",
    ])
    func otherWordsAreUnchanged(word: String) {
        check(word, word)
    }

    @Test(arguments: [
        ("Authorization: Bearer abc.def-1_2~+/=", "Authorization: Bearer [REDACTED:token]"),
        ("bearer  abc", "bearer  [REDACTED:token]"), ("BEARER abc, x", "BEARER [REDACTED:token], x"),
        ("Bearer%20abc%2Bdef&x", "Bearer%20[REDACTED:token]&x"),
        (jwt, "[REDACTED:token]"), ("x" + jwt + "\"", "x[REDACTED:token]\""), (#"\n"# + jwt, #"\n[REDACTED:token]"#),
        ("eyJhbGciOiJFUzI1NksifQ.eyJpc3Mi", "[REDACTED:token]"),
        ("https://user:pa%2Fss@host/p", "https://[REDACTED:token]@host/p"),
        ("https://user@host", "https://[REDACTED:token]@host"),
        ("https://a:b@c@host:8/p?x=@", "https://[REDACTED:token]@host:8/p?x=@"),
        (#"https:\/\/user:pw@host"#, #"https:\/\/[REDACTED:token]@host"#),
        ("u=https%3A%2F%2Fuser%3Apw%40host", "u=https%3A%2F%2F[REDACTED:token]%40host"),
        ("https://h/p?token=abc&x=1", "https://h/p?token=[REDACTED:token]&x=1"),
        ("?secret=a%26b&key=c", "?secret=[REDACTED:token]&key=[REDACTED:token]"),
        ("access_token=abc refresh-token=def", "access_token=[REDACTED:token] refresh-token=[REDACTED:token]"),
        ("u=%3Ftoken%3Dabc%26x%3D1", "u=%3Ftoken%3D[REDACTED:token]%26x%3D1"),
        (#"?a=1\u0026token=abc\u0026x=1"#, #"?a=1\u0026token=[REDACTED:token]\u0026x=1"#),
        (#"token="a b" x=1"#, #"token="[REDACTED:token]" x=1"#),
        ("Authorization: Basic dXNlcjpwdw== x", "Authorization: Basic [REDACTED:token] x"),
        ("Cookie: a=b; c=d", "Cookie: [REDACTED:token]"),
    ])
    func credentialsAreReplaced(original: String, expected: String) {
        check(original, expected)
    }

    @Test(arguments: [
        "collapse_key=starred-projects", "monkey=1", "https://host:8080/p", "https://host/p@q", "tokens=5", "1.5 2.25",
        "eyJ.x", "forbearer abc".replacing("bearer", with: "bearers"), #"{"key":"poll.x"}"#,
        #"{"token":null,"secret":5}"#, "release-1.2.3.eyJ",
    ])
    func otherTextIsUnchanged(text: String) {
        check(text, text)
    }

    @Test(arguments: ["activeDid", "accountDid", "issuerDid", "agentDid", "agent_did", "poll.agentDid"])
    func didFieldsAreRedacted(name: String) {
        check(#"{"\#(name)":"al\"ice","x":"y"}"#, #"{"\#(name)":"[REDACTED:did]","x":"y"}"#)
        check(#"{"\#(name)" : "alice"}"#, #"{"\#(name)" : "[REDACTED:did]"}"#)
        check(#"{"e":"{\"\#(name)\":\"alice\",\"x\":1}"}"#, #"{"e":"{\"\#(name)\":\"[REDACTED:did]\",\"x\":1}"}"#)
        check(#"{"\#(name)":null,"x":"y"}"#, #"{"\#(name)":null,"x":"y"}"#)
    }

    @Test(arguments: ["token", "accessToken", "access_token", "Authorization", "password", "client_secret", "jwt"])
    func tokenFieldsAreRedacted(name: String) {
        check(#"{"\#(name)":"abc","x":"y"}"#, #"{"\#(name)":"[REDACTED:token]","x":"y"}"#)
        check(#"{"e":"[\"\#(name)\": \"abc\"]"}"#, #"{"e":"[\"\#(name)\": \"[REDACTED:token]\"]"}"#)
    }

    @Test func kindsAreCounted() {
        var bytes = Array("did:a:b did:c:d \(Self.ulid) \(Self.canonical) \(Self.jwt) token=x".utf8)
        let counts = Redactor().redact(&bytes)
        #expect(counts == [.did: 2, .id: 2, .token: 2])
        #expect(Redactor().redact(&bytes).isEmpty)
    }

    @Test func truncatedInputDoesNotTrap() {
        for text in [
            "", ":", "did:", "did:a:", "%", "%3", "\\", "\\u", "\\u00", "\"token\":\"", "Bearer ", "token=", "://", "=",
            ".",
        ] {
            check(text, text)
        }
        check("\"token\":\"abc", "\"token\":\"[REDACTED:token]")
    }

    @Test func seedPatternsAreASubset() {
        let line = "did:key:z6MkpTHR8VNs x Bearer eyJ0.a-b_c 1704067200_abc123_def45678 \"activeDid\": \"did:key:z1\""
        let redacted = Redactor().redacted(line)
        for secret in ["z6Mk", "eyJ0", "1704067200", "z1"] { #expect(!redacted.contains(secret)) }
    }
}

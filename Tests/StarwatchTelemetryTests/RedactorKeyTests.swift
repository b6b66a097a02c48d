import Foundation
import Testing

@testable import StarwatchTelemetry

/// Secrets that are found by their form: keys, webhook secrets, PEM blocks and encoded DIDs.
@Suite struct RedactorKeyTests {
    private static let key = RedactorTests.privateKey

    @Test(arguments: 0..<6, ["did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74", "did:key:z6MkhaXgBZDvotDkL5257"])
    func base64OfADIDIsReplacedAtEveryAlignment(bytesBefore: Int, did: String) {
        let before = String("{\"iss\":\"".suffix(bytesBefore))
        let base64 = Data("\(before)\(did)\"".utf8).base64EncodedString()
        let word = String(base64.prefix { $0 != "=" })
        let end = base64.dropFirst(word.count)
        expectRedacted(base64, "[REDACTED:did]\(end)")
        for (left, right) in [("x=", "&y"), ("\"", "\""), (" ", "."), ("%22", "%22"), (#"\n"#, #"\n"#), ("_", "_")] {
            expectRedacted(left + word + right, left + "[REDACTED:did]" + right)
        }
    }

    @Test(arguments: [
        "c3RhcndhdGNoIHBvbGxzIEVuZG9yc2Vy", "ZGlk", "ZGlkOm", "eHlkaWQ", "R0lGODlhAQABAIAAAAAAAP",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw",
    ])
    func otherBase64IsUnchanged(text: String) {
        expectRedacted(text, text)
    }

    @Test(arguments: [
        (key, "[REDACTED:token]"), (key.uppercased(), "[REDACTED:token]"), ("0x" + key, "[REDACTED:token]"),
        ("key \(key).", "key [REDACTED:token]."), (#"{"k":"\#(key)"}"#, #"{"k":"[REDACTED:token]"}"#),
        ("%22\(key)%22", "%22[REDACTED:token]%22"), (#"\n0x\#(key)\n"#, #"\n[REDACTED:token]\n"#),
        ("eth_\(key)_x", "eth_[REDACTED:token]_x"),
    ])
    func sixtyFourHexadecimalDigitsAreReplaced(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        String(key.dropFirst()), key + "0", "x" + key, "4bf92f3577b34da6a3ce929d0e0e4736", "run_5bd0c7e1a2f94d63",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "e624f0176bd1b0a8ba6a9e4a1f1d1a0c3b2d4e5f",
    ])
    func otherHexadecimalDigitsAreUnchanged(text: String) {
        expectRedacted(text, text)
    }

    @Test(arguments: [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "[REDACTED:token]"), ("a whsec_AB+/== b", "a [REDACTED:token] b"),
        ("whsec%5FMfKQ9r8GKYqr%2BTw%3D&x", "[REDACTED:token]&x"), (#""whsec_MfKQ\/9r8"}"#, #""[REDACTED:token]"}"#),
        (#"whsec\u005fMfKQ9r8""#, #"[REDACTED:token]""#), ("my_whsec_abc", "my_[REDACTED:token]"),
    ])
    func webhookSecretsAreReplaced(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: ["lines of whsec_ and base64", "whsec_", "sec_abc", "exec_abc", "WHSEC"])
    func otherUnderscoresAreUnchanged(text: String) {
        expectRedacted(text, text)
    }

    @Test(arguments: ["%5F", "%5f", "%255F", #"\u005f"#, #"\\u005F"#])
    func idsWithEncodedUnderscoresAreReplaced(underscore: String) {
        for id in [
            "1704067200\(underscore)abC123\(underscore)0f1e2d3c", "1704067200_abC123\(underscore)0f1e2d3c",
            "1704067200\(underscore)abC123_0f1e2d3c",
        ] {
            for (before, after) in [("", ""), ("\"", "\""), ("%2F", "%2C"), (#"\n"#, ""), ("x=", "&y"), ("_", "")] {
                expectRedacted(before + id + after, before + "[REDACTED:id]" + after)
            }
            for (before, after) in [("1", ""), ("", "a"), ("x", "")] {
                expectRedacted(before + id + after, before + id + after)
            }
        }
    }

    private static let block = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE+/=\nProc-Type: 4\n-----END EC PRIVATE KEY-----"

    @Test(arguments: [
        (block, "[REDACTED:token]"), ("a \(block)\nb", "a [REDACTED:token]\nb"),
        (block.replacing("\n", with: #"\n"#) + #"\n""#, #"[REDACTED:token]\n""#),
        (block.replacing("\n", with: #"\\n"#) + #"\\n\""#, #"[REDACTED:token]\\n\""#),
        (block.replacing("\n", with: #"\r\n"#) + #"","x":1"#, #"[REDACTED:token]","x":1"#),
        (#""-----BEGIN KEY-----\nMHc","x":1"#, #""[REDACTED:token]","x":1"#),
        (#"\"-----BEGIN KEY-----\nMHc\",1"#, #"\"[REDACTED:token]\",1"#),
        ("-----BEGIN KEY-----\nMHc\n", "[REDACTED:token]\n"),
        ("token=\(block) x", "token=[REDACTED:token] x"), ("Bearer \(block)", "Bearer [REDACTED:token]"),
        (#"-----BEGIN KEY-----\nMHc\n-----END"#, "[REDACTED:token]"),
        ("-----BEGIN%20KEY-----%0AMHc%0A-----END%20KEY-----%0A", "[REDACTED:token]%0A"),
    ])
    func privateKeyBlocksAreReplacedAsAWhole(original: String, expected: String) {
        expectRedacted(original, expected)
    }

    @Test(arguments: [
        "-----", "a -- b", "--from 3", "----BEGIN KEY----", "-----END KEY-----", "--begin --end", "BEGIN KEY",
    ])
    func otherHyphensAreUnchanged(text: String) {
        expectRedacted(text, text)
    }
}

import Foundation
import Testing

@testable import StarwatchTelemetry

/// A reproducible random number generator.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct RedactorPropertyTests {
    private static let fragments = [
        "a", "Z", "0", "_", "-", ".", ":", "/", "//", "\\", "\"", "%", "=", "&", "?", " ", "{", "}", "[", "]", "d",
        "di",
        "did", "did:", "eyJ", "u00", "\\n", "\\u0022", "%2F", "%25", "key", "Bearer ", "@", ",", "é", "\n", "'", "#",
        "[REDACTED:id]", "[REDACTED:", "://", "token", "\":", "\":\"", "0123456789", "ABCDEFGHJKMNPQRSTV",
    ]

    /// Secrets, each with the part that must be removed.
    private static let secrets: [(text: String, trace: String, needsBorders: Bool)] = [
        ("did:ethr:0x5CAFE0123", "5CAFE0123", false), ("did%3Akey%3Az6MkCAFE42", "CAFE42", false),
        (#"\u0064id\u003apeer\u003a2CAFE99"#, "CAFE99", false), ("did%253Aweb%253Acafe.example", "cafe.example", false),
        (RedactorTests.ulid, RedactorTests.ulid, true), (RedactorTests.canonical, RedactorTests.canonical, true),
        (RedactorTests.jwt, "c2ln-bmF0_dXJl", false), ("Bearer s3cr3tCAFE", "s3cr3tCAFE", false),
        ("https://joe:s3cr3tpw@host/", "s3cr3tpw", false), ("?access_token=s3cr3tQ", "s3cr3tQ", false),
        (RedactorTests.ulid.lowercased(), RedactorTests.ulid.lowercased(), true),
        ("whsec_TWZLUTlyCAFE", "TWZLUTlyCAFE", false),
        ("1704067200%5FabC123%5F0f1e2d3c", "abC123", true), (RedactorTests.privateKey, "e1f7CAFE", true),
        ("ZGlkOmV0aHI6MHg1Q0FGRTAxMjM", "MHg1Q0FGRTAxMjM", true),
        ("eHlkaWQ6ZXRocjoweDVDQUZFMDEyMw", "weDVDQUZFMDEyMw", true),
        ("did&#58;ethr&colon;0x5CAFE0123", "CAFE0123", false),
        ("did\u{FF1A}ethr\u{FF1A}0x5CAFE0123", "CAFE0123", false),
        ("di\u{200B}d:ethr:0x5CAFE0123", "CAFE0123", false), (#"di\u200bd\uff1aethr:0x5CAFE0123"#, "CAFE0123", false),
        ("-----BEGIN KEY-----\\nMHcCAFE\\n-----END KEY-----", "MHcCAFE", false),
        (" joe:s3cr3tpw@host", "s3cr3tpw", false),
        ("joecafe@example.org", "joecafe", false), (" +4179123459999", "123459999", true),
        (#""activeDid":"Alice Liddell""#, "Liddell", false), (#"\"agentDid\":\"Alice Liddell\""#, "Liddell", false),
    ]

    private func surroundings(_ random: inout SplitMix) -> String {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in Self.fragments.randomElement(using: &random)! }.joined()
    }

    private func isWordByte(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte.isLetter || byte.isDigit || byte == 0x5F
    }

    @Test func noSecretSurvivesInAnySurroundings() {
        var random = SplitMix(state: 1)
        let redactor = Redactor()
        for round in 0..<500 {
            for secret in Self.secrets {
                let before = surroundings(&random)
                let after = surroundings(&random)
                if secret.needsBorders, isWordByte(before.utf8.last) || isWordByte(after.utf8.first) { continue }
                let redacted = redactor.redacted(before + secret.text + after)
                #expect(!redacted.contains(secret.trace), "\(round): \(before)|\(secret.text)|\(after) -> \(redacted)")
            }
        }
    }

    @Test func noSecretSurvivesAtAnyOffsetOfALine() {
        let line =
            #"{"timestamp":"2026-01-01T00:00:00.000Z","level":"INFO","event":"x","metadata":{"a":"b c.d=e%2Ff"}}"#
        let redactor = Redactor()
        for secret in Self.secrets {
            for offset in 0...line.utf8.count {
                let bytes = Array(line.utf8)
                if secret.needsBorders, offset > 0, isWordByte(bytes[offset - 1]) { continue }
                if secret.needsBorders, offset < bytes.count, isWordByte(bytes[offset]) { continue }
                let embedded = Array(bytes[..<offset]) + Array(secret.text.utf8) + Array(bytes[offset...])
                let redacted = redactor.redacted(String(decoding: embedded, as: UTF8.self))
                #expect(!redacted.contains(secret.trace), "offset \(offset): \(redacted)")
            }
        }
    }

    @Test func secondRedactionChangesNothing() {
        var random = SplitMix(state: 2)
        let redactor = Redactor()
        for _ in 0..<4000 {
            let text = (0..<3).map { _ in
                surroundings(&random)
                    + (Bool.random(using: &random) ? Self.secrets.randomElement(using: &random)!.text : "")
            }.joined()
            let once = redactor.redacted(text)
            #expect(redactor.redacted(once) == once, "\(text)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func anyBytesAreAcceptedWithoutATrap() {
        var random = SplitMix(state: 3)
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random)
                    : Array(#"did:%\u03aeyJ.="/@ B"#.utf8).randomElement(using: &random)!
            }
            Redactor().redact(&bytes)
        }
    }

    @Test func wordsWithoutSecretsAreUnchanged() {
        var random = SplitMix(state: 4)
        let words = [
            "poll", "finished", "starred_projects", "42", "3.14", "2026-01-01T00:00:00.000Z",
            "https://host:8080/a/b?c=d",
            "550e8400-e29b-41d4-a716-446655440000", #""event":"poll_finished""#, "100%", "C:\\temp", "a=b", "key",
            "Zürich",
        ]
        for _ in 0..<500 {
            let line = (0..<10).map { _ in words.randomElement(using: &random)! }.joined(separator: " ")
            #expect(Redactor().redacted(line) == line)
        }
    }

    @Test func validJSONStaysValid() throws {
        var random = SplitMix(state: 5)
        for _ in 0..<500 {
            let secrets = (0..<2).map { _ in Self.secrets.randomElement(using: &random)!.text }
            let texts = secrets.map { surroundings(&random) + $0 + surroundings(&random) }
            var entry = LogEntry(timestampMilliseconds: 0, severity: .info, event: texts[0])
            entry.metadata = [("activeDid", .string(texts[0])), ("token", .string(texts[1])), ("x", .string(texts[1]))]
            var line = entry.jsonLine()
            Redactor().redact(&line)
            #expect(throws: Never.self, "\(String(decoding: line, as: UTF8.self))") {
                try JSONSerialization.jsonObject(with: Data(line))
            }
        }
    }
}

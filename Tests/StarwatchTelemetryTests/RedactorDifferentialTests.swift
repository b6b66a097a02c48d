import Foundation
import Testing

@testable import StarwatchTelemetry

/// Compares the redactor with regular expressions, on random texts of difficult parts.
///
/// `REDACTOR_SEED` selects other texts. A failure names its seed.
@Suite struct RedactorDifferentialTests {
    private static let firstSeed =
        ProcessInfo.processInfo.environment["REDACTOR_SEED"].flatMap(UInt64.init) ?? 20_260_101

    private static let secrets = [
        "did:ethr:0x5CAFE", "did:key:z6Mk#z6Mk", "DiD:web:a.example:b", "did:hash:0123456789abcdef", "did:hash:0123",
        RedactorTests.ulid, RedactorTests.canonical, "01ARZ3NDEKTSV4RRFFQ69G5FAI", "1704067200_abC123_0f1e2d3g",
        RedactorTests.jwt, "eyJhbGciOiJI.e30", "eyJ", "Bearer ", "bearer\t", "Bearer s3cr3t+/=", "https://joe:pw@host/",
        "ws://a@b@c", "access_token=", "token=\"a b\"", "api-key=x&", "key=", "\"activeDid\":\"",
        "\"agent_did\" : \"Al\"",
        "\"password\":\"", "Authorization: Basic dXNlcg==", "Cookie: a=b; c", "X-Api-Key:", "Set-Cookie:",
        "authorization", "did:", "did:a:", RedactorTests.ulid.lowercased(), "whsec_TWZLUTly+/=",
        RedactorTests.privateKey,
        "0x" + RedactorTests.privateKey, "ZGlkOmV0aHI6MHg1Q0FGRTAxMjM", "eGRpZDpldGhyOjB4NUNBRkUwMTIz",
        "eHlkaWQ6ZXRocjoweDVDQUZFMDEyMw", "joe:pw@host", "joe@example.org", "mailto:", "@example.org",
        "+41 79 123 45 67",
        "+1 (202) 555-0123", "+4179", "-----BEGIN KEY-----\nMHc=\n", "-----END KEY-----", "-----",
    ]
    private static let joints = [
        "", "", "", " ", "\"", ":", "/", "//", "=", "&", ".", "-", "_", "@", ",", "a", "Z", "0", "é", "\u{301}", "🌻",
        "\n", "\t", "'", "<", ">", "#", "?", "{", "}", "[", "]", "(", ")", ";", "~", "+", "[REDACTED:token]",
        "[REDACTED:did]",
        "\u{7F}", "\u{0}", "\u{85}", "\u{2028}", "word", "0123456789", "ABCDEFGHJKMNPQRSTVWXYZ",
    ]

    static func text(_ random: inout SplitMix) -> [UInt8] {
        var text = ""
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            for _ in 0..<Int.random(in: 0...3, using: &random) { text += joints.randomElement(using: &random)! }
            var secret = secrets.randomElement(using: &random)!
            // Truncated, so that beginnings and ends of secrets meet.
            if Int.random(in: 0..<4, using: &random) == 0 {
                secret = String(secret.dropFirst(Int.random(in: 0..<secret.count, using: &random)))
            } else if Int.random(in: 0..<4, using: &random) == 0 {
                secret = String(secret.dropLast(Int.random(in: 0..<secret.count, using: &random)))
            }
            text += secret
        }
        return Array(text.utf8)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func redactorMatchesTheRegularExpressions(part: UInt64) {
        let reference = RedactorReference()
        for number in 0..<500 as Range<UInt64> {
            let seed = Self.firstSeed &+ part &* 500 &+ number
            var random = SplitMix(state: seed)
            let text = Self.text(&random)
            var redacted = text
            Redactor().redact(&redacted)
            let expected = reference.redacted(text)
            let isEqual = redacted == expected
            #expect(
                isEqual,
                "seed \(seed): \(quoted(text)) became \(quoted(redacted)), not \(quoted(expected))"
            )
        }
    }

    /// A match in a text is also found in each of its encodings.
    @Test(arguments: Spelling.allCases, 0..<2 as Range<UInt64>)
    func encodedTextsAreRedactedEqually(spelling: Spelling, part: UInt64) {
        let needles: [(secret: String, trace: String)] = [
            ("did:ethr:0x5CAFE99", "5CAFE99"), ("did:web:cafe99.example:b", "cafe99"),
            ("01JWMCKG0022HDXJ4G4QCAFE99", "01JWMCKG"), ("1704067999_CAFE99_0f1e2d3c", "CAFE99"),
            ("eyJhbGciOiJFUzI1NksifQ.eyCAFE99.c2ln", "CAFE99"), ("Bearer CAFE99", "CAFE99"),
            ("https://joe:CAFE99@host/", "CAFE99"), ("?access_token=CAFE99&a", "CAFE99"), ("joe:CAFE99@host", "CAFE99"),
            ("CAFE99@example.org", "CAFE99"), ("whsec_CAFE99", "CAFE99"), ("+4179123459999", "123459999"),
            ("01jwmckg0022hdxj4g4qcafe99", "01jwmckg"),
        ]
        for number in 0..<400 as Range<UInt64> {
            let seed = Self.firstSeed &+ part &* 400 &+ number
            var random = SplitMix(state: seed)
            let needle = needles.randomElement(using: &random)!
            let (before, after) = (Self.text(&random), Self.text(&random))
            let text = before + Array(" \(needle.secret) ".utf8) + after
            var encoded = spelling.encoded(text, &random)
            let original = encoded
            Redactor().redact(&encoded)
            #expect(
                !String(decoding: encoded, as: UTF8.self).contains(needle.trace),
                "seed \(seed): \(quoted(original)) became \(quoted(encoded))"
            )
        }
    }

    /// A line with a single secret, at any offset. Most other lines have several matches.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func aMatchIsFoundAtAnyOffset(part: UInt64) {
        let reference = RedactorReference()
        var changed = 0
        for number in 0..<300 as Range<UInt64> {
            let seed = Self.firstSeed &+ part &* 300 &+ number
            var random = SplitMix(state: seed)
            let text = Self.text(&random)
            let filler = [UInt8](repeating: UInt8(ascii: "x"), count: Int.random(in: 0...40, using: &random))
            let line = filler + Array(" ".utf8) + text.prefix(Int.random(in: 0...60, using: &random))
            var redacted = line
            Redactor().redact(&redacted)
            changed += redacted == line ? 0 : 1
            let isEqual = redacted == reference.redacted(line)
            #expect(isEqual, "seed \(seed): \(quoted(line)) became \(quoted(redacted))")
        }
        #expect((30..<270).contains(changed), "the texts are all alike: \(changed)")
    }

    /// Every byte beside a secret.
    @Test(arguments: [RedactorTests.ulid, RedactorTests.ulid.lowercased(), RedactorTests.privateKey])
    func aSecretIsFoundBesideAnyByte(secret: String) {
        let reference = RedactorReference()
        for byte in UInt8.min...UInt8.max {
            for filler in [[], [UInt8(ascii: " ")]] {
                let line = filler + [byte] + Array(secret.utf8) + [byte] + filler
                var redacted = line
                Redactor().redact(&redacted)
                #expect(redacted == reference.redacted(line), "\(byte)")
            }
        }
    }

    /// Secrets without a small letter after `f`, behind the longest escapes, and base64 in words of any length.
    @Test(
        arguments: [
            "0X" + RedactorTests.privateKey.uppercased(), "%2522" + RedactorTests.privateKey.uppercased(),
            "\\u0022" + RedactorTests.privateKey.uppercased(), "%25220X" + RedactorTests.privateKey.uppercased(),
            "%2522" + RedactorTests.ulid, "\\u0022" + RedactorTests.ulid, "ZGlkOm" + String(repeating: "A1", count: 20),
            String(repeating: "A1", count: 20) + "ZGlkOmV0" + String(repeating: "A1", count: 20),
        ]
    )
    func aLongWordIsFound(secret: String) {
        for offset in 0..<16 {
            var line = [UInt8](repeating: UInt8(ascii: " "), count: offset) + Array(secret.utf8) + Array(" end".utf8)
            #expect(Redactor().redact(&line).values.reduce(0, +) == 1, "at \(offset)")
        }
    }

    enum Spelling: Sendable, CaseIterable {
        case percent
        case lowerPercent
        case twice
        case json
        case entity
        case wide
        case invisible

        /// Encodes the punctuation of a text.
        func encoded(_ text: [UInt8], _ random: inout SplitMix) -> [UInt8] {
            text.flatMap { byte -> [UInt8] in
                let isSign = !byte.isLetter && !byte.isDigit && !"-_.~".utf8.contains(byte)
                guard isSign || byte == 0x5F && self != .percent && self != .twice else { return [byte] }
                let canHide = byte > 0x20 && byte < 0x7F && !#""&'<>\"#.utf8.contains(byte)
                switch self {
                case .percent: return Array(String(format: "%%%02X", byte).utf8)
                case .lowerPercent: return Array(String(format: "%%%02x", byte).utf8)
                case .twice: return Array(String(format: "%%25%02X", byte).utf8)
                case .entity: return canHide ? Array("&#\(byte);".utf8) : [byte]
                case .wide: return canHide ? Array(String(Unicode.Scalar(0xFEE0 + UInt32(byte))!).utf8) : [byte]
                case .invisible: return canHide ? Array("\u{200B}".utf8) + [byte] + Array("\u{200B}".utf8) : [byte]
                case .json: return byte < 0x80 ? Array(String(format: "\\u%04x", byte).utf8) : [byte]
                }
            }
        }
    }

    private func quoted(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
}

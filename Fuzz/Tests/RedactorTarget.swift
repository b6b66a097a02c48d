import Foundation
import StarwatchTelemetry

extension FuzzTarget {
    /// The redactor ends, ends the same way when asked again, leaves no secret that was put between the bytes, and makes
    /// no invalid text or JSON of a valid one.
    static let redactor = FuzzTarget(
        name: "redactor",
        words: [
            "did:", "%3A", "%253A", "\\u003a", "Bearer ", "eyJ", "://", "@", "token=", "\"error\":\"", "\"identity\":",
            "01JWMCKG0022HDXJ4G4Q6", "1704067200_", "_0f1e2d3c", "\\\\", "\\\"", "&#58;", "&colon;", "\u{FF1A}",
            "\u{200B}",
            "\\uff1a", "whsec_", "-----BEGIN ", "-----END", "+4179", "ZGlkO", "RpZDp", "kaWQ6", "mailto:",
        ],
        tries: 3000
    ) { input in
        let once = redacted(input)
        guard redacted(once) == once else { return "redacting twice is not redacting once" }
        if let text = String(validating: input, as: UTF8.self) {
            guard String(validating: once, as: UTF8.self) != nil else { return "a valid text became invalid" }
            if let line = try? JSONSerialization.data(withJSONObject: ["token": text, "error": ["e", text]]) {
                let line = redacted(Array(line))
                guard (try? JSONSerialization.jsonObject(with: Data(line))) != nil else {
                    return "valid JSON became invalid"
                }
            }
        }

        // The first byte says which secret and where.
        guard let first = input.first else { return nil }
        let secret = Secret.all[Int(first) % Secret.all.count]
        let rest = input.dropFirst()
        let place = rest.startIndex + (rest.isEmpty ? 0 : Int(first) * 7 % (rest.count + 1))
        var before = Array(rest[..<place])
        var after = Array(rest[place...])
        guard !contains(before + [0] + after, secret.trace) else { return nil }
        if secret.needsBorders {
            before.append(UInt8(ascii: " "))
            after.insert(UInt8(ascii: " "), at: 0)
        }
        return contains(redacted(before + secret.bytes + after), secret.trace) ? "a secret survived" : nil
    }
}

private struct Secret {
    let bytes: [UInt8]
    let trace: [UInt8]
    /// Whether a letter beside it would make it another word, or its first letter can be a digit of an escape before it.
    let needsBorders: Bool

    init(_ text: String, _ trace: String, needsBorders: Bool = false) {
        (bytes, self.trace, self.needsBorders) = (Array(text.utf8), Array(trace.utf8), needsBorders)
    }

    static let all = [
        Secret("did:ethr:0x5CAFE0123", "5CAFE0123"), Secret("did%3Akey%3Az6MkCAFE42", "CAFE42"),
        Secret(#"\u0064id\u003apeer\u003a2CAFE99"#, "CAFE99"), Secret("did%253Aweb%253Acafe.example", "cafe.example"),
        Secret("01JWMCKG0022HDXJ4G4Q6CAFE9", "4G4Q6CAFE9", needsBorders: true),
        Secret("1704067200_CAFE99_0f1e2d3c", "CAFE99_0f1e", needsBorders: true),
        Secret("eyJhbGciOiJFUzI1NksifQ.eyJpc3MiOiJkaWQ.c2lnCAFE", "c2lnCAFE"),
        Secret("Bearer s3cr3tCAFE", "s3cr3tCAFE"), Secret(" https://joe:s3cr3tpw@host/", "s3cr3tpw"),
        Secret("01jwmckg0022hdxj4g4q6cafe9", "4g4q6cafe9", needsBorders: true),
        Secret("1704067200%5FCAFE99%5F0f1e2d3c", "CAFE99%5F0f1e", needsBorders: true),
        Secret("eHlkaWQ6ZXRocjoweDVDQUZFMDEyMw", "weDVDQUZFMDEyMw", needsBorders: true),
        Secret("4c0883a69102937d6231471b5dbb6204fe512961708279f9d3b2c8a0e1f7CAFE", "e1f7CAFE", needsBorders: true),
        Secret("whsec_TWZLUTlyCAFE", "TWZLUTlyCAFE"), Secret(" joe:s3cr3tpw@host", "s3cr3tpw"),
        Secret("joecafe@example.org", "joecafe"), Secret("+41 79 123 45 99", "123 45", needsBorders: true),
        Secret(#"-----BEGIN KEY-----\nMHcCAFE\n-----END KEY-----"#, "MHcCAFE"),
        Secret("did&#58;ethr&colon;0x5CAFE0123", "5CAFE0123", needsBorders: true),
        Secret("did\u{FF1A}ethr\u{FF1A}0x5CAFE0123", "5CAFE0123", needsBorders: true),
        Secret("di\u{200B}d:ethr:0x5CAFE0123", "5CAFE0123", needsBorders: true),
        Secret(#"di\u200bd\uff1aethr:0x5CAFE0123"#, "5CAFE0123", needsBorders: true),
        Secret("?access_token=s3cr3tQ", "s3cr3tQ"), Secret(#" "activeDid":"Alice Liddell""#, "Liddell"),
    ]
}

private func redacted(_ bytes: [UInt8]) -> [UInt8] {
    var copy = bytes
    Redactor().redact(&copy)
    return copy
}

private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
}

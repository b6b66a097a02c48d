import Foundation
import StarwatchTelemetry

/// What must hold of the redactor for any bytes: it ends, it ends the same way when asked again, it leaves no secret that
/// was put between the bytes, and it makes no invalid text or JSON of a valid one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let redactor = Redactor()

    let once = redacted(input, redactor)
    require(redacted(once, redactor) == once, "redacting twice is not redacting once", input)
    if let text = String(validating: input, as: UTF8.self) {
        require(String(validating: once, as: UTF8.self) != nil, "a valid text became invalid", input)
        if let line = try? JSONSerialization.data(withJSONObject: ["token": text, "error": ["e", text]]) {
            let line = redacted(Array(line), redactor)
            require((try? JSONSerialization.jsonObject(with: Data(line))) != nil, "valid JSON became invalid", line)
        }
    }

    // The first byte says which secret and where.
    guard let first = input.first else { return 0 }
    let secret = Secret.all[Int(first) % Secret.all.count]
    let rest = input.dropFirst()
    let place = rest.startIndex + (rest.isEmpty ? 0 : Int(first) * 7 % (rest.count + 1))
    var before = Array(rest[..<place])
    var after = Array(rest[place...])
    guard !contains(before + [0] + after, secret.trace) else { return 0 }
    if secret.needsBorders {
        before.append(UInt8(ascii: " "))
        after.insert(UInt8(ascii: " "), at: 0)
    }
    let line = before + secret.bytes + after
    require(!contains(redacted(line, redactor), secret.trace), "a secret survived", line)
    return 0
}

private struct Secret {
    let bytes: [UInt8]
    let trace: [UInt8]
    /// Whether a letter beside it would make it another word.
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
        Secret("?access_token=s3cr3tQ", "s3cr3tQ"), Secret(#" "activeDid":"Alice Liddell""#, "Liddell"),
    ]
}

private func redacted(_ bytes: [UInt8], _ redactor: Redactor) -> [UInt8] {
    var copy = bytes
    redactor.redact(&copy)
    return copy
}

private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
}

private func require(_ isTrue: Bool, _ message: String, _ input: [UInt8]) {
    if !isTrue { fatalError("\(message): \(String(decoding: input, as: UTF8.self).debugDescription)") }
}

/// The kind of redacted data, and the values of the `kind` label.
public enum RedactionKind: String, MetricLabel {
    /// A DID, or the value of a field that contains a DID.
    case did
    /// A claim identifier of either dialect, an e-mail address or a phone number.
    case id
    /// A token, password, key or PEM block.
    case token

    /// The text that replaces the data: `[REDACTED:did]`, `[REDACTED:id]` or `[REDACTED:token]`.
    public var replacement: String { "[REDACTED:\(rawValue)]" }
}

/// Number of replacements of each kind.
public struct RedactionCounts: Sendable, Hashable {
    public var did = 0
    public var id = 0
    public var token = 0

    public init() {}

    public var total: Int { did + id + token }

    public subscript(_ kind: RedactionKind) -> Int {
        get {
            switch kind {
            case .did: did
            case .id: id
            case .token: token
            }
        }
        set {
            switch kind {
            case .did: did = newValue
            case .id: id = newValue
            case .token: token = newValue
            }
        }
    }
}

/// Replaces personal data and secrets in formatted bytes, as the last stage before output (R-LOG-06).
///
/// It finds:
/// - DIDs of every method, including letters or colons encoded as `%3A`, `%253a` or `\u003a`, and words of base64 that
///   contain one. Pseudonyms, `did:hash:` with 16 hexadecimal digits, are kept.
/// - Identifiers of both dialects: parts of words of exactly 26 bytes that are a ULID or `1234567890_abcdef_01234567`.
/// - Bearer tokens, JWTs without a scheme, `whsec_` secrets, words of 64 hexadecimal digits, PEM blocks, user information
///   with and without a URL's scheme, and values of parameters such as `token=`, `secret=` or `key=`.
/// - E-mail addresses and international phone numbers.
/// - String values of JSON fields such as `activeDid` or `access_token`, including JSON inside a JSON string.
///
/// HTML entities and full-width forms count as the ASCII characters that they stand for, and characters without width as
/// nothing.
///
/// Valid JSON stays valid. A second redaction changes nothing. In ambiguous cases it redacts too much.
public struct Redactor: Sendable {
    public init() {}

    /// Redacts in place.
    ///
    /// - Returns: The number of replacements. If there are none, the bytes are unchanged and nothing was allocated.
    @discardableResult
    public func redact(_ bytes: inout [UInt8]) -> RedactionCounts {
        var total = RedactionCounts()
        // A replacement can expose another match, such as the `@` after a DID's slashes, so the scan repeats.
        for _ in 0..<Self.maxPasses {
            guard let (output, counts) = pass(over: bytes) else { break }
            bytes = output
            for kind in RedactionKind.allCases { total[kind] += counts[kind] }
        }
        return total
    }

    private static let maxPasses = 8

    private func pass(over bytes: [UInt8]) -> (output: [UInt8], counts: RedactionCounts)? {
        bytes.withUnsafeBufferPointer { line in
            var scanner = RedactionScanner(bytes: line)
            guard scanner.mayFind() else { return nil }
            var replacements = scanner.run()
            if let plain = PlainLine(line) { replacements = union(replacements, plain.replacements) }
            return replacing(replacements, in: line)
        }
    }

    /// The replacements of both lists, with those that overlap joined.
    private func union(
        _ first: [RedactionScanner.Replacement],
        _ second: [RedactionScanner.Replacement]
    ) -> [RedactionScanner.Replacement] {
        var union: [RedactionScanner.Replacement] = []
        for next in (first + second).sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if let last = union.last, next.range.lowerBound < last.range.upperBound {
                let end = max(last.range.upperBound, next.range.upperBound)
                union[union.count - 1] = .init(range: last.range.lowerBound..<end, kind: last.kind)
            } else {
                union.append(next)
            }
        }
        return union
    }

    private func replacing(
        _ replacements: [RedactionScanner.Replacement],
        in line: UnsafeBufferPointer<UInt8>
    ) -> (output: [UInt8], counts: RedactionCounts)? {
        guard !replacements.isEmpty else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(line.count + 32)
        var counts = RedactionCounts()
        var end = 0
        for replacement in replacements {
            output.append(contentsOf: line[end..<replacement.range.lowerBound])
            output.append(text: replacement.kind.replacement)
            counts[replacement.kind] += 1
            end = replacement.range.upperBound
        }
        output.append(contentsOf: line[end...])
        return (output, counts)
    }

    /// Returns a redacted copy of a text.
    public func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        redact(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

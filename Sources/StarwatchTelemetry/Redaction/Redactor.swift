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

/// Replaces personal data and secrets in formatted bytes, as the last stage before output.
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
    /// - Returns: The number of replacements of each kind. If it is empty, the bytes are unchanged.
    @discardableResult
    public func redact(_ bytes: inout [UInt8]) -> [RedactionKind: Int] {
        var counts: [RedactionKind: Int] = [:]
        // A replacement can expose another match, such as the `@` after a DID's slashes, so the scan repeats.
        for _ in 0..<Self.maxPasses {
            let replacements = replacements(in: bytes)
            guard !replacements.isEmpty else { break }
            var output: [UInt8] = []
            output.reserveCapacity(bytes.count + 32)
            var end = 0
            for (range, kind) in replacements {
                // Replacements that overlap are one.
                if range.lowerBound >= end {
                    output += bytes[end..<range.lowerBound]
                    output.append(text: kind.replacement)
                    counts[kind, default: 0] += 1
                }
                end = max(end, range.upperBound)
            }
            bytes = output + bytes[end...]
        }
        return counts
    }

    /// Returns a redacted copy of a text.
    public func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        redact(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let maxPasses = 8
    /// The limit of encodings in each other, so that a long line of `%2525…` takes no quadratic time.
    private static let maxLayers = 32

    /// The ranges to replace, from all readings of a line, in order.
    private func replacements(in line: [UInt8]) -> [Replacement] {
        var reading = Reading(line)
        var found = reading.replacements
        if let unescaped = reading.unescaped() {
            found = unescaped.withoutCutEscapes(found, in: line) + unescaped.replacements
            reading = unescaped
        }
        for _ in 0..<Self.maxLayers {
            guard let decoded = reading.decoded() else { break }
            found += decoded.replacements
            reading = decoded
        }
        return found.count > 1 ? found.sorted { $0.range.lowerBound < $1.range.lowerBound } : found
    }
}

/// A range of a line or a reading that is replaced.
typealias Replacement = (range: Range<Int>, kind: RedactionKind)

/// The kind of redacted data, and the values of the `kind` label.
public enum RedactionKind: String, MetricLabel {
    /// A DID, or the value of a field that contains a DID.
    case did
    /// A claim identifier of either dialect.
    case id
    /// A token, password or key.
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
/// - DIDs of every method, including letters or colons encoded as `%3A`, `%253a` or `\u003a`. Pseudonyms, `did:hash:`
///   with 16 hexadecimal digits, are kept.
/// - Identifiers of both dialects: words of exactly 26 bytes that are a ULID or `1234567890_abcdef_01234567`.
/// - Bearer tokens, JWTs without a scheme, user information in URLs, and values of parameters such as `token=`,
///   `secret=` or `key=`.
/// - String values of JSON fields such as `activeDid` or `access_token`, including JSON inside a JSON string.
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
        bytes.withUnsafeBufferPointer { buffer in
            var scanner = RedactionScanner(bytes: buffer)
            return scanner.mayFind() ? scanner.run() : nil
        }
    }

    /// Returns a redacted copy of a text.
    public func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        redact(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

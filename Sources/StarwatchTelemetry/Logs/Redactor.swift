/// What a redaction replaced. Also the values of the `kind` label.
public enum RedactionKind: String, MetricLabel {
    /// A DID, or the value of a field that holds one.
    case did
    /// A claim's id, of either dialect.
    case id
    /// A token, password or key.
    case token

    /// `[REDACTED:did]`, `[REDACTED:id]`, `[REDACTED:token]`.
    public var replacement: String { "[REDACTED:\(rawValue)]" }
}

/// How many replacements of each kind were made.
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

/// Replaces personal data and secrets in finished bytes, as the last stage before they leave (R-LOG-06, C-224, C-225).
///
/// It finds, in one pass (and one more over what it changed):
/// - DIDs of every method, also with letters or colons spelled `%3A`, `%253a`, `\u003a`; the pseudonyms
///   `did:hash:` with 16 hexadecimal digits stay;
/// - ids of both dialects: words of exactly 26 bytes that are a ULID or `1234567890_abcdef_01234567`;
/// - bearer tokens, JWTs without a scheme, user information in URLs, values of `token=`, `secret=`, `key=` and the like;
/// - string values of JSON fields such as `activeDid` or `access_token`, also in JSON inside a JSON string.
///
/// What was valid JSON stays valid. Redacting twice is redacting once. When in doubt it takes too much.
public struct Redactor: Sendable {
    public init() {}

    /// Redacts in place.
    ///
    /// - Returns: What was replaced. If nothing was, the bytes are untouched and nothing was allocated.
    @discardableResult
    public func redact(_ bytes: inout [UInt8]) -> RedactionCounts {
        var total = RedactionCounts()
        // A replacement can uncover what it hid, such as the `@` behind a DID's slashes: look again until nothing is left.
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

    /// A redacted copy of a text.
    public func redacted(_ text: String) -> String {
        var bytes = Array(text.utf8)
        redact(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

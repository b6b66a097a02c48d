/// The two forms of a JWT identifier. Both are 26 ASCII bytes that sort by time.
public enum IDKind: String, Sendable, CaseIterable, Codable {
    /// `1704067200_abc123_def45678`: seconds, random, hash (R-EP-16).
    case timestamped
    /// A ULID: 48 bits of milliseconds and 80 random bits, Crockford base 32.
    case ulid
}

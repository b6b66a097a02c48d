/// The two kinds of JWT IDs. Both have 26 ASCII bytes and sort by time.
public enum IDKind: String, Sendable, CaseIterable, Codable {
    /// `1704067200_abc123_def45678`: seconds, random, hash (R-EP-16).
    case timestamped
    /// A ULID: 48 bits of milliseconds and 80 random bits, Crockford base 32.
    case ulid
}

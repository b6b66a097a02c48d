/// The configured name of a poll: lower-case letters, digits and `_`, at most 63 bytes.
///
/// Names become label values, so they are never personal data.
public struct PollName: Sendable, Hashable, CustomStringConvertible, Codable {
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.first, (97...122).contains(first), bytes.count <= 63,
            bytes.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.rawValue = text
    }

    public var description: String { rawValue }
}

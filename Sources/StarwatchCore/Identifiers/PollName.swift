/// The configured name of a poll: lower-case letters, digits and `_`, at most 63 bytes.
///
/// Names become label values, so they never contain personal data.
public struct PollName: Sendable, Hashable, CustomStringConvertible, Codable {
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        guard LabelName.isValid(text) else { return nil }
        rawValue = text
    }

    /// The name under which the store keeps a digest's notifications. A digest never has the name of a poll.
    public init(_ digest: DigestName) { rawValue = digest.rawValue }

    public var description: String { rawValue }
}

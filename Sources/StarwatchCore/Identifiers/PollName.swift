/// The configured name of a poll: lower-case letters, digits and `_`, at most 63 bytes.
///
/// Names become label values, so they never contain personal data.
public struct PollName: Sendable, Hashable, CustomStringConvertible, Codable {
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        guard text.isLabelValue else { return nil }
        rawValue = text
    }

    /// The name under which the store keeps synthetic changes. No poll has it.
    package static let canary = PollName("canary")!

    /// The name under which the store keeps a digest's notifications. A digest never has the name of a poll.
    public init(_ digest: DigestName) { rawValue = digest.rawValue }

    public var description: String { rawValue }
}

/// The configured name of a digest: lower-case letters, digits and `_`, at most 63 bytes.
///
/// Names become label values, so they never contain personal data.
public struct DigestName: Sendable, Hashable, CustomStringConvertible, Codable {
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        guard text.isLabelValue else { return nil }
        rawValue = text
    }

    public var description: String { rawValue }
}

extension String {
    /// Whether it matches `[a-z][a-z0-9_]{0,62}`.
    fileprivate var isLabelValue: Bool {
        guard let first = utf8.first, (97...122).contains(first), utf8.count <= 63 else { return false }
        return utf8.allSatisfy { (97...122).contains($0) || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}

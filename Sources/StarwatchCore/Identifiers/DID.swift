/// The decentralised identifier of an account.
///
/// It is personal data, so it prints as `<did>`; code that needs the text reads ``rawValue``. The text is never
/// normalised, because servers compare it byte for byte.
public struct DID: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    public let rawValue: String

    /// Accepts `did:method:id` of printable ASCII without spaces, at most 2,048 bytes; `nil` for other texts.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "did", !parts[1].isEmpty, !parts[2].isEmpty,
            parts[1].utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) }),
            text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        self.rawValue = text
    }

    public var description: String { "<did>" }
    public var debugDescription: String { "<did>" }
}

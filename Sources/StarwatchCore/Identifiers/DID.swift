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

    /// Returns what is wrong with a DID that a person typed, as a sentence without its subject and without the DID; `nil`
    /// for one that can exist. It knows the form of `did:ethr` alone: `0x` and an address of 40 digits, or a public key
    /// of 66.
    package static func typingProblem(_ text: String) -> String? {
        guard DID(text) != nil else { return "must be a DID, such as did:ethr:0x…." }
        guard text.hasPrefix("did:ethr:"), let last = text.split(separator: ":").last else { return nil }
        if last.contains("YOUR") { return "still has a placeholder; write your own DID, as the app shows it." }
        let digits = last.utf8.dropFirst(2)
        let isHexadecimal = last.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
        if last.hasPrefix("0x"), isHexadecimal, [40, 66].contains(digits.count) { return nil }
        let found = last.hasPrefix("0x") && isHexadecimal ? "it has \(digits.count) digits" : "it has other characters"
        return "must end with 0x and 40 hexadecimal digits, but \(found); copy the DID from the app."
    }

    /// Whether it is `did:ethr:` and an address, without a network.
    package var isEthereumAddress: Bool {
        let prefix = "did:ethr:0x"
        guard rawValue.hasPrefix(prefix) else { return false }
        let digits = rawValue.dropFirst(prefix.count)
        return digits.count == 40 && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    public var description: String { "<did>" }
    public var debugDescription: String { "<did>" }
}

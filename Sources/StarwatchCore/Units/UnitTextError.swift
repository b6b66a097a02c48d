/// The reason why a text is not a duration or a size.
public enum UnitTextError: Error, Sendable, Hashable, CustomStringConvertible {
    case duration(String)
    case durationTooLong(String)
    case byteSize(String)
    case byteSizeTooLarge(String)

    /// One sentence with the accepted form.
    public var description: String {
        switch self {
        case .duration(let text):
            "\(Self.shown(text)) is not a duration; "
                + (DurationText.intended(by: text).map { "write \($0)." }
                    ?? "write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m.")
        case .durationTooLong(let text):
            "\(Self.shown(text)) is too long; a duration is at most 36500d."
        case .byteSize(let text):
            "\(Self.shown(text)) is not a size; "
                + (ByteSizeText.intended(by: text).map { "write \($0)." }
                    ?? "write a whole number of bytes, KiB, MiB or GiB, such as 64KiB.")
        case .byteSizeTooLarge(let text):
            "\(Self.shown(text)) is too large; a size is at most 8388608GiB."
        }
    }

    /// The text in quotes. One that is far from a number can be a secret, put here by mistake.
    private static func shown(_ text: String) -> String {
        let isNumber = text.first.map { ("0"..."9").contains($0) || "+-. ".contains($0) } ?? true
        return isNumber && text.count <= 24 ? "'\(text)'" : "This value"
    }
}

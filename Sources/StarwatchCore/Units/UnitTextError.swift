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
            "'\(text.prefix(40))' is not a duration; "
                + (DurationText.intended(by: text).map { "write \($0)." }
                    ?? "write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m.")
        case .durationTooLong(let text):
            "'\(text.prefix(40))' is too long; a duration is at most 36500d."
        case .byteSize(let text):
            "'\(text.prefix(40))' is not a size; "
                + (ByteSizeText.intended(by: text).map { "write \($0)." }
                    ?? "write a whole number of bytes, KiB, MiB or GiB, such as 64KiB.")
        case .byteSizeTooLarge(let text):
            "'\(text.prefix(40))' is too large; a size is at most 8388608GiB."
        }
    }
}

/// The `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The longest wait: 2³¹ − 1 s. Longer ones are clamped.
    public static let longest = Duration.seconds(Int64(Int32.max))

    /// The wait that the server asks for, counted from the answer.
    ///
    /// - Parameters:
    ///   - answerDate: The `Date` of the same answer. A date in the header is relative to it, so no clock has to be
    ///     right; without it, to `now`.
    /// - Returns: Zero for a past date; `nil` for an invalid header.
    public static func parse(_ value: String, answerDate: Timestamp?, now: Timestamp) -> Duration? {
        let text = value.drop { $0 == " " || $0 == "\t" }
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        guard let end else { return nil }
        let trimmed = text[...end]
        if trimmed.utf8.allSatisfy({ (48...57).contains($0) }) {
            guard let seconds = Int64(trimmed) else { return longest }
            return min(longest, .seconds(min(seconds, Int64(Int32.max))))
        }
        guard let date = HTTPDate.parse(trimmed, now: answerDate ?? now) else { return nil }
        return min(longest, max(.zero, date - (answerDate ?? now)))
    }
}

/// The rule for advancing the watermark.
public enum WatermarkRule {
    /// The largest identifier at or below the fetch cursor up to which every known row is terminal.
    ///
    /// - Parameters:
    ///   - current: The stored watermark; `nil` if there is none.
    ///   - firstOpen: The smallest identifier of a row that is not terminal; `nil` if there is none.
    ///   - lastTerminalBeforeOpen: The largest terminal identifier below `firstOpen` (or of all rows) and not above the
    ///     fetch cursor; `nil` if there is none.
    ///   - fetchCursor: The end of the completely fetched range; `nil` before the first complete walk.
    /// - Returns: The new watermark, greater than `current`; `nil` if the watermark stays.
    public static func advance(
        current: JWTID?,
        firstOpen: JWTID?,
        lastTerminalBeforeOpen: JWTID?,
        fetchCursor: JWTID?
    ) -> JWTID? {
        guard let candidate = lastTerminalBeforeOpen, let cursor = fetchCursor else { return nil }
        guard cursor.precedes(candidate) == false else { return nil }
        if let firstOpen, candidate.precedes(firstOpen) != true { return nil }
        if let current, current.precedes(candidate) != true { return nil }
        return candidate
    }
}

/// How far the watermark may move.
public enum WatermarkRule {
    /// The greatest identifier such that every known row up to it is terminal, capped by the fetch cursor.
    ///
    /// - Parameters:
    ///   - current: The stored watermark; `nil` if there is none.
    ///   - firstOpen: The smallest identifier of a row that is not terminal; `nil` if there is none.
    ///   - lastTerminalBeforeOpen: The greatest terminal identifier below `firstOpen` (or of all) and not above the
    ///     fetch cursor; `nil` if there is none.
    ///   - fetchCursor: How far the stream was fetched completely; `nil` before the first complete walk.
    /// - Returns: The new watermark, or `nil` when it must stay where it is. Never less than `current`.
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

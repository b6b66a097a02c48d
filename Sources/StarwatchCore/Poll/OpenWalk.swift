/// The position of an interrupted walk over descending pages, from which the next cycle continues.
///
/// Stored in the transaction of the page. The fetch cursor moves to ``top`` when the walk is complete.
public struct OpenWalk: Sendable, Hashable, Codable {
    /// The largest identifier of the walk's first page.
    public let top: JWTID
    /// The upper end of the next page. Identifiers at or above it are handled.
    public let before: JWTID
    /// The exclusive lower end of the walk; `nil` means the beginning.
    public let after: JWTID?

    public init(top: JWTID, before: JWTID, after: JWTID?) {
        self.top = top
        self.before = before
        self.after = after
    }
}

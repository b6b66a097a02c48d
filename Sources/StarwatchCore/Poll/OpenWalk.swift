/// Where a walk over descending pages was interrupted, so that the next cycle goes on from there.
///
/// Stored with the rows of the page. The fetch cursor moves to ``top`` only when the walk is complete.
public struct OpenWalk: Sendable, Hashable, Codable {
    /// The greatest identifier of the walk's first page.
    public let top: JWTID
    /// Everything at or above this identifier has been handled; the next page lies below it.
    public let before: JWTID
    /// The exclusive lower end of the walk; `nil` means the beginning.
    public let after: JWTID?

    public init(top: JWTID, before: JWTID, after: JWTID?) {
        self.top = top
        self.before = before
        self.after = after
    }
}

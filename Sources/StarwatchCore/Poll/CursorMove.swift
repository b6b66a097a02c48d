/// What a page's commit does to the fetch cursor. The cursor only rises.
public enum CursorMove: Sendable, Hashable {
    /// The walk is not complete: the cursor stays.
    case unchanged
    /// Ascending pages: the cursor follows the last item that was handled.
    case followItems
    /// The walk is complete: the cursor moves here, if every item of this page found room.
    case advance(to: JWTID)
}

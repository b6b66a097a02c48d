/// What a page's commit does to the fetch cursor. The cursor only rises.
public enum CursorMove: Sendable, Hashable {
    /// The walk is not complete: the cursor stays.
    case unchanged
    /// Ascending pages: the cursor follows the last item that was handled, no further than `upTo`; `nil`: without end.
    case followItems(upTo: JWTID?)
    /// The walk is complete: the cursor moves here, if every item of this page found room.
    case advance(to: JWTID)

    /// Where the cursor wants to go.
    ///
    /// - Parameter last: The last item of the page that was handled; `nil` when none was.
    public func target(last: JWTID?) -> JWTID? {
        switch self {
        case .unchanged: nil
        case .advance(let to): to
        case .followItems(let end): last.map { JWTID.least($0, end) }
        }
    }
}

extension JWTID {
    /// The lesser of two of one kind; `other` is passed over when it is `nil` or of another kind.
    static func least(_ id: JWTID, _ other: JWTID?) -> JWTID {
        guard let other, other.precedes(id) == true else { return id }
        return other
    }
}

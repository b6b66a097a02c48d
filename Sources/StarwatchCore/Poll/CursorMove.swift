/// The effect of a page's commit on the fetch cursor, which only rises.
public enum CursorMove: Sendable, Hashable {
    /// The walk is incomplete, so the cursor stays.
    case unchanged
    /// Ascending pages: the cursor follows the last handled item, but not above `upTo`; `nil` means no limit.
    case followItems(upTo: JWTID?)
    /// The walk is complete. The cursor moves here if every item of the page found room.
    case advance(to: JWTID)

    /// The target of the cursor; `nil` if it stays.
    ///
    /// - Parameter last: The last handled item of the page; `nil` if there is none.
    public func target(last: JWTID?) -> JWTID? {
        switch self {
        case .unchanged: nil
        case .advance(let to): to
        case .followItems(let end): last.map { JWTID.least($0, end) }
        }
    }
}

extension JWTID {
    /// The smaller of two identifiers. `other` is ignored if it is `nil` or of another kind.
    static func least(_ id: JWTID, _ other: JWTID?) -> JWTID {
        guard let other, other.precedes(id) == true else { return id }
        return other
    }
}

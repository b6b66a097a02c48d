/// A page that passed validation.
public struct Page: Sendable, Hashable {
    /// The changes, in the dialect's order.
    public let changes: [FetchedChange]
    /// Whether the server has more in this direction.
    public internal(set) var hasMore: Bool
    /// The server's cursor for the next ascending page; `nil` in the descending dialect and at the end.
    public internal(set) var nextAfter: JWTID?
    /// The number of items on the page, including rejected ones.
    public internal(set) var fetched: Int
    /// The number of items rejected one by one; always 0 without `quarantine_invalid`.
    public var rejected: Int { refused.count }
    /// Whether the page has a `pagination` object, as pages of the canonical dialect do.
    public internal(set) var hasPagination = false
    /// Whether the items had to be sorted.
    public let reordered: Bool
    /// The issues of the rejected items.
    public var issues: [ValidationIssue] { refused.flatMap(\.issues) }
    /// The rejected items.
    public internal(set) var refused: [RefusedItem] = []
    /// The least identifier of the page, with those of rejected items; `nil` if there is none.
    package var least: JWTID? { edge(\.lower) { $0.rawValue < $1.rawValue } }
    /// The greatest identifier of the page, with those of rejected items; `nil` if there is none.
    package var greatest: JWTID? { edge(\.upper) { $0.rawValue > $1.rawValue } }

    /// The page of an answer without content (R-POLL-17).
    public static let none = Page(
        changes: [],
        hasMore: false,
        nextAfter: nil,
        fetched: 0,
        reordered: false
    )

    /// The identifier that comes first by `isBefore`. The changes are sorted.
    private func edge(_ side: KeyPath<RefusedItem.Span, JWTID>, _ isBefore: (JWTID, JWTID) -> Bool) -> JWTID? {
        var edge = changes.first?.id
        if let last = changes.last?.id, edge.map({ isBefore(last, $0) }) ?? true { edge = last }
        for item in refused {
            if let id = item.span?[keyPath: side], edge.map({ isBefore(id, $0) }) ?? true { edge = id }
        }
        return edge
    }
}

/// A change, with all that its page says about it.
public struct FetchedChange: Sendable, Hashable {
    public let change: Change
    /// The details of the changed plan; `nil` for an offer.
    public var details: PlanDetails?
    /// The differences from the former claim that the server sent along; `nil` if it sent none.
    public var claimedChanges: [String: FieldChange]?
    /// Whether the account made the claim itself.
    public var isOwn: Bool
    /// The claim that this one replaced, if the server names it and it came after the walk's cursor.
    public var previous: JWTID?

    public var id: JWTID { change.id }

    public init(
        _ change: Change,
        details: PlanDetails? = nil,
        claimedChanges: [String: FieldChange]? = nil,
        isOwn: Bool = false,
        previous: JWTID? = nil
    ) {
        self.change = change
        self.details = details
        self.claimedChanges = claimedChanges
        self.isOwn = isOwn
        self.previous = previous
    }
}

/// The strictness of validation.
public enum Validation: String, Sendable, CaseIterable, Codable {
    /// The fields that the agent needs must be valid. Others can be missing or wrong.
    case lenient
    /// Every field must match the contract's schema (R-VAL-02, R-VAL-03), and the items must be in order (C-021).
    case strict
}

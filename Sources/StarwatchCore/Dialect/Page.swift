/// A page that passed validation.
public struct Page: Sendable, Hashable {
    /// The changes, in the dialect's order.
    public private(set) var changes: [FetchedChange]
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
    /// The row of the last item, where pages go by it; `nil` if it has none.
    package internal(set) var lastRow: Int?
    /// Whether nothing follows, though the page is as long as one that does not say so.
    package var isWhole = false
    /// Whether several requests brought it, between which the server can have changed.
    package private(set) var isJoined = false
    /// The place of the items that ``only(_:)`` left out, so that a cursor passes them; `nil` for none.
    private(set) var leftOut: RefusedItem.Span?
    /// The least identifier of the page, with those of rejected items; `nil` if there is none.
    package var least: JWTID? { edge(\.lower) { $0.rawValue < $1.rawValue } }
    /// The greatest identifier of the page, with those of rejected items; `nil` if there is none.
    package var greatest: JWTID? { edge(\.upper) { $0.rawValue > $1.rawValue } }

    /// The page of an answer without content.
    public static let none = Page(changes: [], hasMore: false, nextAfter: nil, fetched: 0, reordered: false)

    /// The identifier that comes first by `isBefore`. The changes are sorted.
    private func edge(_ side: KeyPath<RefusedItem.Span, JWTID>, _ isBefore: (JWTID, JWTID) -> Bool) -> JWTID? {
        var edge = changes.first?.id
        if let last = changes.last?.id, edge.map({ isBefore(last, $0) }) ?? true { edge = last }
        for item in refused {
            if let id = item.span?[keyPath: side], edge.map({ isBefore(id, $0) }) ?? true { edge = id }
        }
        if let id = leftOut?[keyPath: side], edge.map({ isBefore(id, $0) }) ?? true { edge = id }
        return edge
    }

    /// The page with only those items that link to one of the account's claims.
    package func linked(to own: OwnClaims) -> Page { only { $0.linked(to: own) } }

    /// The page with only those items that `wanted` returns.
    package func only(_ wanted: (FetchedChange) -> FetchedChange?) -> Page {
        var page = self
        page.changes = changes.compactMap(wanted)
        if page.changes.count < changes.count, let least, let greatest { page.leftOut = .init(least, greatest) }
        return page
    }

    /// Adds the next page of a report whose pages go by the numbers of rows.
    package mutating func add(_ next: Page, in dialect: Dialect) {
        changes += next.changes
        dialect.sort(&changes)
        refused += next.refused
        (hasMore, fetched, isJoined) = (next.hasMore, fetched + next.fetched, true)
    }
}

/// A change, with all that its page says about it.
public struct FetchedChange: Sendable, Hashable {
    public private(set) var change: Change
    /// The details of the changed plan; `nil` for an offer or a gift.
    public var details: PlanDetails?
    /// The differences from the former claim that the server sent along; `nil` if it sent none.
    public var claimedChanges: [String: FieldChange]?
    /// Whether the account made the claim itself.
    public var isOwn: Bool
    /// The claim that this one replaced, if the server names it and it came after the walk's cursor.
    public var previous: JWTID?
    /// The claim by which alone an offer names its plan; `nil` if ``change`` has the plan, or the offer names none.
    public var planClaim: JWTID?
    /// The claims that this one is about, by identifier or handle, if only those of the account's own count.
    var links: [String] = []
    /// The place of a plan of anybody; `nil` if it has none.
    package var location: GeoPoint?

    public var id: JWTID { change.id }

    public init(
        _ change: Change,
        details: PlanDetails? = nil,
        claimedChanges: [String: FieldChange]? = nil,
        isOwn: Bool = false,
        previous: JWTID? = nil
    ) {
        (self.change, self.details, self.claimedChanges, self.isOwn) = (change, details, claimedChanges, isOwn)
        self.previous = previous
    }

    /// The same item if it links to one of the account's claims; `nil` otherwise. A confirmation has that claim's name, because
    /// it has none itself.
    fileprivate func linked(to own: OwnClaims) -> FetchedChange? {
        guard let handle = links.lazy.compactMap({ own.known[$0] }).first else { return nil }
        guard change.isOffer, links.contains(change.plan) else { return self }
        var copy = self
        copy.change = Change(
            id: id,
            plan: handle,
            name: own.names[handle].flatMap(PageDecoder.shortened),
            isOffer: true
        )
        return copy
    }

    /// The same offer with the plan that ``planClaim`` names.
    package func offered(to plan: String) -> FetchedChange {
        var copy = self
        copy.change = Change(id: id, plan: plan, name: change.name, isEdition: change.isEdition)
        return copy
    }
}

extension Dialect {
    /// Sorts changes as the pages have them.
    func sort(_ changes: inout [FetchedChange]) {
        changes.sort { isDescending ? $0.id.rawValue > $1.id.rawValue : $0.id.rawValue < $1.id.rawValue }
    }
}

/// The strictness of validation.
public enum Validation: String, Sendable, CaseIterable, Codable {
    /// The fields that the agent needs must be valid. Others can be missing or wrong.
    case lenient
    /// Every field must match the contract's schema, and the items must be in order.
    case strict
}

/// The rejection of a whole page, which then changes no state.
public struct PageRejection: Error, Sendable, Hashable {
    public let violation: ContractViolation
    public let issues: [ValidationIssue]
    /// Whether single items are invalid, so that a page without them would be valid.
    public let isOfItems: Bool
    /// The reason in the words of a list's settings; `nil` for pages of an Endorser server.
    public let sentence: String?

    public init(
        violation: ContractViolation,
        issues: [ValidationIssue],
        isOfItems: Bool = false,
        sentence: String? = nil
    ) {
        (self.violation, self.issues, self.isOfItems, self.sentence) = (violation, issues, isOfItems, sentence)
    }
}

/// The way an answer broke the server's contract.
public enum ContractViolation: String, Sendable, CaseIterable, Codable {
    /// A field is missing, has the wrong type or is invalid.
    case schema
    /// The page is out of order. It is sorted and used.
    case order
    /// The cursor did not move.
    case cursor
    /// `hitLimit` or `hasMore` contradicts the page.
    case hitLimit = "hit_limit"
    /// The identifiers belong to another dialect.
    case idKind = "id_kind"
}

/// An item that was rejected alone (`quarantine_invalid`). It holds nothing of the item but its identifier.
public struct RefusedItem: Sendable, Hashable {
    /// The identifiers that a cursor passes with an item.
    public struct Span: Sendable, Hashable {
        package let lower: JWTID
        package let upper: JWTID

        package init(_ lower: JWTID, _ upper: JWTID) { (self.lower, self.upper) = (lower, upper) }
    }

    /// The largest number of listed issues.
    public static let listedIssues = 20

    public let violation: ContractViolation
    /// The item's identifier; `nil` if it has no valid one.
    public let id: JWTID?
    /// The first ``listedIssues`` issues, of which there is at least one.
    public let issues: [ValidationIssue]
    /// The same number for the same item with the same issues, wherever it stands. Nothing can be read from it.
    public let fingerprint: Int64
    /// The place of the item among the others; `nil` if its identifier is invalid, so that no cursor passes it.
    public internal(set) var span: Span?

    /// An item that makes its page unreadable. Only the time in its identifier is known.
    init(unreadableAt span: Span) {
        violation = .schema
        id = nil
        issues = [ValidationIssue(path: "$.data[?]", problem: .unreadable)]
        self.span = span
        fingerprint = [span.lower.rawValue, span.upper.rawValue].stableHash
    }

    /// An item of a list, which no cursor passes.
    init(_ issue: ValidationIssue, fingerprint: Int64) {
        (violation, id, issues, self.fingerprint) = (.schema, nil, [issue], fingerprint)
    }

    init(_ item: ItemWire, violation: ContractViolation, issues: [ValidationIssue], place: String) {
        self.violation = violation
        self.id = item.plan.id.flatMap { JWTID($0) }
        self.issues = Array(issues.prefix(Self.listedIssues))
        let faults = issues.flatMap { [String($0.path.dropFirst(place.count)), $0.problem.rawValue] }
        fingerprint = ([item.plan.id ?? "", item.plan.handle ?? ""] + faults).stableHash
    }
}

/// A page that passed its check.
public struct Page: Sendable, Hashable {
    /// The changes, in the dialect's order.
    public let changes: [Change]
    /// What the changed plans are like, as far as the page says it; offers have no entry.
    public let details: [JWTID: PlanDetails]
    /// Whether the server has more in this direction.
    public let hasMore: Bool
    /// The server's cursor for the next ascending page; `nil` in the descending dialect and at the end.
    public let nextAfter: JWTID?
    /// How many items the page held, refused ones included.
    public let fetched: Int
    /// Items refused one by one; always 0 unless invalid items are quarantined.
    public let rejected: Int
    /// Whether it came with `pagination`, as only the canonical dialect's pages do.
    public internal(set) var hasPagination = false
    /// Whether the items had to be sorted.
    public let reordered: Bool
    /// What was wrong with refused items.
    public let issues: [ValidationIssue]
}

/// How strictly answers are checked.
public enum Validation: String, Sendable, CaseIterable, Codable {
    /// What the agent needs must be there and right; other fields may be missing or odd.
    case lenient
    /// Every field must be as the contract says (R-VAL-02, R-VAL-03).
    case strict
}

/// A page that was refused as a whole; it changes no state.
public struct PageRejection: Error, Sendable, Hashable {
    public let violation: ContractViolation
    public let issues: [ValidationIssue]

    public init(violation: ContractViolation, issues: [ValidationIssue]) {
        self.violation = violation
        self.issues = issues
    }
}

/// The rejection of a whole page, which then changes no state.
public struct PageRejection: Error, Sendable, Hashable {
    public let violation: ContractViolation
    public let issues: [ValidationIssue]
    /// Whether single items are invalid, so that a page without them would be valid.
    public let isOfItems: Bool

    public init(violation: ContractViolation, issues: [ValidationIssue], isOfItems: Bool = false) {
        self.violation = violation
        self.issues = issues
        self.isOfItems = isOfItems
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

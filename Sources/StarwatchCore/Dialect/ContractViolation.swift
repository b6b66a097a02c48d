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

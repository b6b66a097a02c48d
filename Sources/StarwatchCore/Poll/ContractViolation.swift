/// The way in which a server's answer broke its contract.
public enum ContractViolation: String, Sendable, CaseIterable, Codable {
    /// A field is missing, of the wrong type, or not what its rule says.
    case schema
    /// The page was not in the order the dialect promises. It is sorted and used.
    case order
    /// The cursor did not move.
    case cursor
    /// `hitLimit` or `hasMore` contradicts the page.
    case hitLimit = "hit_limit"
    /// Identifiers of another kind than the dialect's.
    case idKind = "id_kind"
}

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

/// A fault in an answer. The path contains only field names and indexes, no values, so it is safe to log.
public struct ValidationIssue: Sendable, Hashable, CustomStringConvertible {
    public enum Problem: String, Sendable, CaseIterable {
        case missing
        case wrongType = "wrong_type"
        case invalid
        /// The bytes are not JSON.
        case unreadable
    }

    /// A JSON path, such as `$.data[3].plan.jwtId`.
    public let path: String
    public let problem: Problem

    public init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    public var description: String { "\(path): \(problem.rawValue)" }
}

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

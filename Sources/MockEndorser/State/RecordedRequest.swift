public import Foundation

/// What the mock distinguishes: faults are scripted, and requests counted, for each of these.
public enum MockEndpoint: String, Sendable, CaseIterable {
    case plansChanged = "plans_changed"
    case offersToMe = "offers_to_me"
    case offersToMyProjects = "offers_to_my_projects"
    case acknowledge
    case time
    /// The webhook receiver, `/hook`.
    case hook
    /// A digest's content, `/content`: JSON with an ETag.
    case content
    /// Who is told of digests, `/callback`.
    case callback
    /// A path the mock does not know.
    case other
}

/// A request the mock has received. `/mock/` requests are not recorded.
public struct RecordedRequest: Sendable {
    public let endpoint: MockEndpoint
    public let method: String
    /// The path without the query.
    public let path: String
    /// The query as it was sent, without the question mark; `nil` if there was none.
    public let query: String?
    /// In the order they came.
    public let headers: [(name: String, value: String)]
    /// What was kept of the body: all of it, up to the server's own limit.
    public let body: Data
    /// When the whole request was here, on the mock's clock without its skew.
    public let receivedAt: Date

    /// The first value of a header, its name in any case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}

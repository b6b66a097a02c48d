public import Foundation

/// The endpoints of the mock. Each has its own faults and its own count of requests.
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
    /// The receiver of digest callbacks, `/callback`.
    case callback
    /// Any other path.
    case other
}

/// A request received by the mock. `/mock/` requests are not recorded.
public struct RecordedRequest: Sendable {
    public let endpoint: MockEndpoint
    public let method: String
    /// The path without the query.
    public let path: String
    /// The encoded query without the question mark; `nil` if there was none.
    public let query: String?
    /// Headers in the order of arrival.
    public let headers: [(name: String, value: String)]
    /// The body up to the server's size limit.
    public let body: Data
    /// Time of the complete request, on the mock's clock without its skew.
    public let receivedAt: Date

    /// The first value of a header, ignoring the name's case; `nil` if there is none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}

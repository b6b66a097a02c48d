package import StarwatchCore

/// An item of the server that was rejected alone.
package struct QuarantinedItem: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The item's identifier; `nil` if it has no valid one.
    package let jwtID: JWTID?
    package let violation: ContractViolation
    /// The faults of the item, with paths of the page that had it last. At most ``RefusedItem/listedIssues``.
    package let issues: [ValidationIssue]
    /// The number of the page in its cycle, from 1, as for the next two.
    package let page: Int
    package let runID: String
    /// The number of times that the server sent it.
    package let times: Int
    package let createdAt: Timestamp
    package let seenAt: Timestamp
}

/// A filter for quarantined items. A `nil` property does not restrict.
package struct QuarantineFilter: Sendable, Hashable {
    package var poll: PollName?
    /// Only items with smaller ids.
    package var before: Int64?
    package var limit = 100

    package init() {}
}

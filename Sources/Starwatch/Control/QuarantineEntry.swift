/// A selection of quarantined items, newest first. `nil` does not restrict.
package struct QuarantineQuery: Sendable, Hashable {
    package var poll: String?
    /// The last id of the previous page; only items with smaller ids are listed.
    package var before: Int64?
    /// The size of a page, from 1 to ``OutboxEntry/listLimit``.
    package var limit = OutboxEntry.listLimit

    package init() {}
}

/// An invalid item of the server. It has nothing of the item but its identifier.
package struct QuarantineEntry: Sendable, Codable, Hashable {
    /// A fault of the item.
    package struct Issue: Sendable, Codable, Hashable {
        /// A JSON path in the page, such as `$.data[3].planSummary.handleId`.
        package var path: String
        /// `missing`, `wrong_type`, `invalid` or `unreadable`.
        package var problem: String
    }

    package var id: Int64
    package var poll: String
    /// `schema` or `id_kind`.
    package var kind: String
    /// The item's identifier; `nil` if it has no valid one.
    package var jwtID: String?
    /// The faults, at most 20.
    package var issues: [Issue]
    /// The number of the page in its cycle, from 1, when the item came last.
    package var page: Int
    /// The cycle in which the item came last.
    package var runID: String
    /// The number of times that the item came.
    package var times: Int
    package var createdAt: String
    package var seenAt: String
}

package struct QuarantineListing: Sendable, Codable {
    package var entries: [QuarantineEntry]
}

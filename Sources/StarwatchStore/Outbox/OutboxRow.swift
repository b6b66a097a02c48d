import GRDB
package import StarwatchCore

/// A row of the outbox.
package struct OutboxRow: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    package let change: Change
    package let state: OutboxState
    /// Higher is delivered first.
    package let priority: Int
    /// How often sinks refused it since it was last tried anew.
    package let retryCount: Int
    /// The notification that carries it, `ntf_…`; `nil` before it was claimed.
    package let notificationID: String?
    package let createdAt: Timestamp
    package let deliveredAt: Timestamp?
    package let acknowledgedAt: Timestamp?
    /// When it reached an end, or became a tombstone; `nil` while it is under way.
    package let finishedAt: Timestamp?
    /// What differs from what was seen of the plan before; `nil` when nothing was, in lists, and
    /// behind the ``NotificationMessage/listedChanges`` that a notification lists.
    package var changedFields: [String: FieldChange]?
}

/// A row and what every sink said about it.
package struct OutboxDetail: Sendable, Hashable {
    package let row: OutboxRow
    package let deliveries: [SinkStatus]
}

/// Which rows to list. What is `nil` does not restrict.
package struct OutboxFilter: Sendable, Hashable {
    package var states: Set<OutboxState>?
    package var poll: PollName?
    package var account: DID?
    /// Rows that come after the one of this id, in the order asked for: the last id of the page before.
    package var after: Int64?
    package var limit = 100
    /// The greatest ids first, so that a limit leaves out the oldest rows.
    package var isNewestFirst = false

    package init() {}
}

extension OutboxRow {
    static let columns = """
        o.id, s.account, s.server, s.poll, o.jwt_id, o.plan_id, o.name, o.state, o.priority, o.retry_count,
        (SELECT token FROM notifications n WHERE n.id = o.notification_id), o.created_at, o.delivered_at,
        o.acknowledged_at, o.finished_at
        """

    init(_ row: Row) throws {
        id = row[0]
        stream = try row.stream(1)
        change = Change(id: try row.jwtID(4), plan: row[5], name: row[6])
        state = try row.word(7)
        priority = row[8]
        retryCount = row[9]
        notificationID = row[10]
        createdAt = row.time(11)
        deliveredAt = row.optionalTime(12)
        acknowledgedAt = row.optionalTime(13)
        finishedAt = row.optionalTime(14)
    }
}

import GRDB
package import StarwatchCore

/// A row of the outbox.
package struct OutboxRow: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The change. Values that do not open are ``Unreadable/text``.
    package let change: Change
    package let state: OutboxState
    /// The reason why it is not delivered; `nil` if its state tells.
    package var reason: RowReason?
    /// Higher priorities are delivered first.
    package let priority: Int
    /// The number of rejections since the row last became pending.
    package let retryCount: Int
    /// The id of its notification, `ntf_…`; `nil` before it is claimed.
    package let notificationID: String?
    package let createdAt: Timestamp
    package let deliveredAt: Timestamp?
    package let acknowledgedAt: Timestamp?
    /// The time when it reached a final state or became a tombstone; `nil` before that.
    package let finishedAt: Timestamp?
    /// The run that stored the change.
    package let runID: String
    /// The sinks that rejected it too often or were given up, by name.
    package var undeliveredTo: [String] = []
    /// The fields that changed since the plan was last seen; `nil` if no earlier state is known, and in lists.
    package var changedFields: [String: FieldChange]?
    /// The poll that announced the same claim; `nil` for another reason, or if that row is gone.
    package var announcedBy: String?
}

extension Session {
    /// The change in an outbox row, from its stored values.
    func change(id: JWTID, plan: String, name: String?, isOffer: Bool, of stream: Int64) throws -> Change {
        Change(
            id: id,
            plan: try opened(plan, .outboxPlan, row: Self.outboxRow(stream, id)),
            name: try opened(name, .outboxName, row: Self.outboxRow(stream, id)),
            isOffer: isOffer
        )
    }

    /// The same for a person to look at: ``Unreadable/text`` takes the place of values that do not open.
    func visibleChange(id: JWTID, plan: String, name: String?, isOffer: Bool, of stream: Int64) throws -> Change {
        let place = Self.outboxRow(stream, id)
        return Change(
            id: id,
            plan: try ifReadable { try opened(plan, .outboxPlan, row: place) as String } ?? Unreadable.text,
            name: try name.map { name in
                try ifReadable { try opened(name, .outboxName, row: place) as String } ?? Unreadable.text
            },
            isOffer: isOffer
        )
    }

    /// The stream in the columns `account, server, poll` for a person to look at. An account that does not open is
    /// ``Unreadable/account``.
    fileprivate func visibleStream(_ row: Row, _ index: Int) throws -> StreamKey {
        if let stream = try ifReadable({ try stream(row, index) }) { return stream }
        guard let poll = PollName(row[index + 2] as String) else { throw Row.damaged }
        return StreamKey(account: Unreadable.account, server: row[index + 1], poll: poll)
    }

    /// The text that binds the values of an outbox row to it.
    static func outboxRow(_ stream: Int64, _ id: JWTID) -> String { "\(stream)/\(id.rawValue)" }
}

/// A row and its state at every sink.
package struct OutboxDetail: Sendable, Hashable {
    package let row: OutboxRow
    package let deliveries: [SinkStatus]
}

/// A filter for rows. A `nil` property does not restrict.
package struct OutboxFilter: Sendable, Hashable {
    package var states: Set<OutboxState>?
    package var poll: PollName?
    /// Whether ``states`` also selects rows that an optional sink did not get.
    package var includesUndelivered = false
    /// Only rows after this id in the requested order, for the next page of a list.
    package var after: Int64?
    package var limit = 100
    /// Whether the largest ids come first, so that a limit drops the oldest rows.
    package var isNewestFirst = false

    package init() {}
}

extension OutboxRow {
    static let columns = """
        o.id, s.account, s.server, s.poll, o.jwt_id, o.plan_id, o.name, o.state, o.priority, o.retry_count,
        (SELECT token FROM notifications n WHERE n.id = o.notification_id), o.created_at, o.delivered_at,
        o.acknowledged_at, o.finished_at, o.run_id,
        (SELECT group_concat(sink) FROM deliveries d
            WHERE d.notification_id = o.notification_id AND d.\(Schema.isLost)
                AND o.reason IS NOT '\(RowReason.discarded.rawValue)'),
        o.is_offer, o.stream_id, o.reason,
        CASE o.reason WHEN '\(RowReason.announced.rawValue)' THEN
            (SELECT t.poll FROM streams t CROSS JOIN notification_outbox p ON p.stream_id = t.id AND p.jwt_id = o.jwt_id
            WHERE t.account = s.account AND t.server = s.server AND t.id <> s.id AND p.reason IS NOT '\(RowReason.announced.rawValue)'
            ORDER BY p.origin = 'bootstrap', p.id LIMIT 1) END
        """

    /// The number of ``columns``. More can follow them.
    static let columnCount = 21

    /// The condition of finished rows that an optional sink did not get. Of the rows that a required sink did not get,
    /// none is finished.
    static let isUndelivered = """
        (o.state IN ('delivered', 'acknowledged') AND o.reason IS NOT '\(RowReason.discarded.rawValue)'
            AND o.notification_id IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost)))
        """

    /// Reads ``columns``.
    init(_ row: Row, _ db: Session) throws {
        id = row[0]
        stream = try db.visibleStream(row, 1)
        change = try db.visibleChange(id: row.jwtID(4), plan: row[5], name: row[6], isOffer: row[17], of: row[18])
        state = try row.word(7)
        reason = (row[19] as String?).flatMap(RowReason.init(rawValue:))
        priority = row[8]
        retryCount = row[9]
        notificationID = row[10]
        createdAt = row.time(11)
        deliveredAt = row.optionalTime(12)
        acknowledgedAt = row.optionalTime(13)
        finishedAt = row.optionalTime(14)
        runID = row[15]
        announcedBy = row[20]
        undeliveredTo = (row[16] as String?).map { $0.split(separator: ",").map(String.init).sorted() } ?? []
    }
}

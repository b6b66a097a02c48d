import FoundationEssentials
package import StarwatchCore

package struct OutboxRow: Sendable, Hashable, Identifiable {
    package let id: Int64
    package let stream: StreamKey
    /// The change. Values that do not open are ``Unreadable/text``.
    package let change: Change
    package let state: OutboxState
    /// The reason why it is not delivered; `nil` if its state tells.
    package var reason: RowReason?
    /// The operator who discarded it, as the journal has it; `nil` for another reason.
    package var discardedBy: String?
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
    /// The sinks whose hours hold its notification, or held it until ``heldUntil``, by name.
    package var heldBy: [String] = []
    /// The moment when the first of ``heldBy`` opens.
    package var heldUntil: Timestamp?
    /// The fields that changed since the plan was last seen; `nil` if no earlier state is known, and in lists.
    package var changedFields: FieldChanges?
    /// The poll that announces the same claim; `nil` for another reason, or if no row announces it any more.
    package var announcedBy: String?
}

/// The rows of the outbox, in one access.
struct OutboxRows {
    let db: Session

    /// The states of rows that can still be announced.
    static let announceable: [OutboxState] = [.pending, .claimed, .evicted, .dead]

    /// The change in an outbox row, from the columns `jwt_id`, `plan_id`, `name`, `is_offer`, `is_edition`,
    /// `fulfills_offer` and `details`.
    ///
    /// - Throws: ``StoreError/sealed(_:)`` if a value does not open.
    func change(_ row: SQLRow, of stream: Int64) throws -> Change {
        let id: JWTID = try row["jwt_id"]
        let place = place(stream, id)
        var change = Change(
            id: id,
            plan: try db.opened(row["plan_id"], .outboxPlan, row: place),
            name: try db.opened(row["name"], .outboxName, row: place),
            isOffer: try row["is_offer"],
            isEdition: try row["is_edition"],
            fulfillsOffer: try row["fulfills_offer"]
        )
        change.details = try details(row["details"], place)
        return change
    }

    /// The same for a person to look at: ``Unreadable/text`` takes the place of values that do not open.
    func visibleChange(_ row: SQLRow, of stream: Int64) throws -> Change {
        let id: JWTID = try row["jwt_id"]
        let place = place(stream, id)
        var change = Change(
            id: id,
            plan: try ifReadable { try db.opened(row["plan_id"], .outboxPlan, row: place) as String }
                ?? Unreadable.text,
            name: try ifReadable { try db.opened(row["name"], .outboxName, row: place) as String? } ?? Unreadable.text,
            isOffer: try row["is_offer"],
            isEdition: try row["is_edition"],
            fulfillsOffer: try row["fulfills_offer"]
        )
        change.details = try details(row["details"], place)
        return change
    }

    /// The details of a change, from their stored form. Without them it is announced too, so what does not open counts as none.
    private func details(_ stored: String?, _ place: String) throws -> ItemDetails? {
        try ifReadable { try db.opened(stored, .outboxDetails, row: place) }?.map(ItemDetails.init(stored:))
    }

    /// The stream for a person to look at. An account that does not open is ``Unreadable/account``.
    func visibleStream(_ row: SQLRow) throws -> StreamKey {
        try ifReadable { try db.streams.stream(row) }
            ?? StreamKey(account: Unreadable.account, server: try row["server"], poll: try row["poll"])
    }

    /// The text that binds the values of an outbox row to it.
    func place(_ stream: Int64, _ id: JWTID) -> String { "\(stream)/\(id.rawValue)" }

    /// The fields that differed from the plan's snapshot when the row was stored, from their stored form.
    func changedFields(_ stored: String?, of stream: Int64, _ id: JWTID) throws -> FieldChanges? {
        try db.opened(stored, .outboxChanges, row: place(stream, id)).map(FieldChanges.init(stored:))
    }
}

/// A filter for rows. A `nil` property does not restrict.
package struct OutboxFilter: Sendable, Hashable {
    package var states: Set<OutboxState>?
    package var poll: PollName?
    /// The account of the rows; `nil`: every account.
    package var account: DID?
    /// Whether ``states`` also selects rows that an optional sink did not get.
    package var includesUndelivered = false
    /// Whether to list only rows whose change a sink accepted more than once.
    package var isTwice = false
    /// Only rows after this id in the requested order, for the next page of a list.
    package var after: Int64?
    package var limit = 100
    /// Whether the largest ids come first, so that a limit drops the oldest rows.
    package var isNewestFirst = false

    package init() {}
}

extension OutboxRow {
    static let columns = """
        o.id, s.account, s.server, s.poll, o.jwt_id, o.plan_id, o.name, o.state, o.retry_count,
        (SELECT token FROM notifications n WHERE n.id = o.notification_id) AS token, o.created_at, o.delivered_at,
        o.acknowledged_at, o.finished_at, o.run_id,
        (SELECT group_concat(sink) FROM deliveries d
            WHERE d.notification_id = o.notification_id AND d.\(Schema.isLost)
                AND coalesce(o.reason, '') <> '\(RowReason.discarded.rawValue)') AS undelivered_to,
        o.is_offer, o.is_edition, o.fulfills_offer, o.details, o.stream_id, o.reason,
        CASE o.reason WHEN '\(RowReason.discarded.rawValue)' THEN o.discarded_by END AS discarded_by,
        CASE o.reason WHEN '\(RowReason.announced.rawValue)' THEN
            (SELECT t.poll FROM streams t CROSS JOIN notification_outbox p ON p.stream_id = t.id AND p.jwt_id = o.jwt_id
            WHERE t.account = s.account AND t.server = s.server AND t.id <> s.id AND \(announces)
            ORDER BY p.id LIMIT 1) END AS announced_by,
        (SELECT group_concat(d.sink) \(held)) AS held_by,
        (SELECT min(coalesce(c.next_attempt_at, d.next_attempt_at)) \(held)) AS held_until
        """

    /// The condition of a row `p` that announces its change, as ``OutboxState/announces(isDecided:)`` decides it.
    private static let announces = """
        (+p.state IN (\(announcing(isDecided: false))) OR (+p.state IN (\(announcing(isDecided: true)))
            AND (p.notification_id IS NOT NULL OR p.reason IS NOT NULL)))
        """

    private static func announcing(isDecided: Bool) -> String {
        OutboxState.allCases.filter { $0.announces(isDecided: isDecided) }.map { "'\($0.rawValue)'" }.joined(
            separator: ", "
        )
    }

    /// The held deliveries of a row.
    private static let held = """
        FROM \(DeliveryRows.withCarriers)
        WHERE d.notification_id = o.notification_id AND d.state = 'pending' AND coalesce(c.is_held, d.is_held) = 1
        """

    /// The condition of finished rows that an optional sink did not get. Of the rows that a required sink did not get,
    /// none is finished.
    static let isUndelivered = """
        (o.state IN ('delivered', 'acknowledged') AND coalesce(o.reason, '') <> '\(RowReason.discarded.rawValue)'
            AND o.notification_id IN (SELECT notification_id FROM deliveries WHERE \(Schema.isLost)))
        """

    /// The condition of rows whose change a sink accepted more than once: in several notifications, in a repetition, or for
    /// several polls. It reads all attempts.
    static let isTwice = """
        o.jwt_id IN (SELECT p.jwt_id FROM \(Schema.announcements) a
            JOIN notification_outbox p ON p.id = a.row_id
            JOIN notifications n ON n.id = a.notification_id
            JOIN delivery_attempts d ON d.result = 'ok' AND (d.notification_id = n.id
                OR d.notification_id IN (SELECT r.id FROM notifications r WHERE r.repeats = n.token))
            GROUP BY p.jwt_id, d.sink HAVING count(*) > 1)
        """

    /// Reads ``columns``.
    init(_ row: SQLRow, _ db: Session) throws {
        id = try row["id"]
        stream = try db.outbox.visibleStream(row)
        change = try db.outbox.visibleChange(row, of: row["stream_id"])
        state = try row["state"]
        reason = (try row["reason"] as String?).flatMap(RowReason.init(rawValue:))
        discardedBy = try row["discarded_by"]
        retryCount = try row["retry_count"]
        notificationID = try row["token"]
        createdAt = try row["created_at"]
        deliveredAt = try row["delivered_at"]
        acknowledgedAt = try row["acknowledged_at"]
        finishedAt = try row["finished_at"]
        runID = try row["run_id"]
        announcedBy = try row["announced_by"]
        undeliveredTo = Self.names(try row["undelivered_to"])
        heldBy = Self.names(try row["held_by"])
        heldUntil = try row["held_until"]
    }

    private static func names(_ joined: String?) -> [String] {
        (joined ?? "").split(separator: ",").map(String.init).sorted()
    }
}

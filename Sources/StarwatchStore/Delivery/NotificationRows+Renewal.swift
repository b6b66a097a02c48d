import FoundationEssentials
package import StarwatchCore
import Synchronization

extension StoreDeliveries {
    /// Whether an operator has changed or closed stored notifications since this one was read.
    package func isOutdated(_ notification: OpenNotification) -> Bool {
        store.memory.renewals.load(ordering: .relaxed) != notification.renewals
    }

    /// The notification as it is stored now; `nil` if it is no longer open.
    package func current(_ notification: OpenNotification) async throws(StoreError) -> OutgoingNotification? {
        try await store.direct(.read) { db in
            try db.row(
                "\(NotificationRows.allOutgoing) WHERE n.token = ? AND n.state = 'open'",
                [notification.id]
            ).flatMap { row in try ifReadable { try db.notifications.outgoing(row) } }
        }
    }
}

extension NotificationRows {
    /// The notification and its open repetitions, which announce the same rows.
    static let withRepetitions = """
        (SELECT ?1 UNION ALL SELECT id FROM notifications
            WHERE state = 'open' AND repeats = (SELECT token FROM notifications WHERE id = ?1))
        """

    /// The open notifications that bring a notification to sinks, together with others, and their repetitions.
    private static let carriers = """
        (SELECT id FROM notifications WHERE state = 'open' AND coalesce(repeats, token) IN
            (SELECT carried_by FROM deliveries WHERE notification_id = ?1 AND carried_by IS NOT NULL))
        """

    /// Makes a notification, its repetitions and those that bring it to sinks anew without their discarded rows, under the
    /// same ids.
    func renew(_ notification: Int64, of stream: Int64, _ now: Timestamp, _ make: NotificationRenewal) throws {
        try renew(Self.withRepetitions, of: notification, in: stream, now, make)
        try renewCarriers(of: notification, of: stream, now, make)
    }

    /// Makes the notifications that bring a notification to sinks anew. One that brought only discarded rows is cancelled.
    func renewCarriers(of notification: Int64, of stream: Int64, _ now: Timestamp, _ make: NotificationRenewal) throws {
        try renew(Self.carriers, of: notification, in: stream, now, make) { try cancelOpen("(SELECT ?1)", $0, now) }
    }

    /// - Parameters:
    ///   - notifications: The SQL of the row ids, of the argument `?1`.
    ///   - empty: Called with the row id of each that has no row left.
    private func renew(
        _ notifications: String,
        of notification: Int64,
        in stream: Int64,
        _ now: Timestamp,
        _ make: NotificationRenewal,
        empty: (Int64) throws -> Void = { _ in }
    ) throws {
        let found: [(id: Int64, stream: StreamKey, message: NotificationMessage)?] = try db.all(
            "\(Self.allOutgoing) WHERE n.id IN \(notifications)",
            [notification]
        ) { row in try message(row).map { (try row["id"], try db.streams.stream(row), $0) } }
        for case let (id, key, message)? in found {
            let remainder = try remainder(of: message, notification, of: stream, poll: key.poll)
            if remainder.discarded.count == message.changes.count { try empty(id) }
            guard !remainder.discarded.isEmpty, let (renewed, shortlink) = make(remainder) else { continue }
            try replace(id, by: renewed, stream)
            try db.formerStates.renewed(id, now)
            guard let shortlink else { continue }
            let rest = message.changes.compactMap { item in
                JWTID(item.jwtID).map { Change(id: $0, plan: item.plan, name: nil) }
            }.filter { !remainder.discarded.contains($0.id) }
            try db.notifications.store(shortlink, to: rest, of: id, key.account, now)
        }
    }

    /// - Parameters:
    ///   - notification: The notification that the rows belong to. A repetition has none of its own, and one that brings
    ///     others to a sink has theirs, of all streams of the account.
    ///   - stream: A stream of the account.
    private func remainder(
        of message: NotificationMessage,
        _ notification: Int64,
        of stream: Int64,
        poll: PollName
    ) throws -> NotificationRemainder {
        var (discarded, offers): (Set<JWTID>, Set<JWTID>) = ([], [])
        let rows = try db.rows(
            """
            SELECT jwt_id, is_offer, state = 'cancelled' OR coalesce(reason, '') = '\(RowReason.discarded.rawValue)' AS is_discarded
            FROM notification_outbox
            WHERE stream_id IN (SELECT id FROM streams WHERE account = (SELECT account FROM streams WHERE id = ?1))
                AND jwt_id IN (SELECT value FROM json_each(?2)) AND (notification_id = ?3
                OR notification_id IN (SELECT notification_id FROM deliveries WHERE carried_by = ?4))
            """,
            [stream, jsonArray(message.changes.map(\.jwtID)), notification, message.repeats ?? message.id]
        )
        while let row = try rows.next() {
            let id: JWTID = try row["jwt_id"]
            if try row["is_offer"] { offers.insert(id) }
            if try row["is_discarded"] { discarded.insert(id) }
        }
        return (poll, message, discarded, offers)
    }

    /// Stores another text of a notification, under its id.
    func replace(_ id: Int64, by notification: OutgoingNotification, _ stream: Int64) throws {
        try db.run(
            "UPDATE notifications SET kind = ?, row_count = ?, title = ?, body = ?, payload = ? WHERE id = ?",
            [notification.group.rawValue, notification.count] + sealedContent(of: notification, stream) + [id]
        )
    }

    /// The message in a row of ``allOutgoing``; `nil` if it cannot be read.
    func message(_ row: SQLRow) -> NotificationMessage? {
        (try? db.opened(row["payload"] as Data, .notificationPayload, row: try row["token"])).flatMap {
            NotificationMessage(json: $0)
        }
    }

    /// Cancels an open notification whose rows are all discarded, and its repetitions.
    ///
    /// - Parameter isLost: Whether to drop the results of the sinks that did not get it, too.
    func cancel(_ notification: Int64, isLost: Bool = false, _ now: Timestamp) throws {
        try cancelOpen(Self.withRepetitions, notification, now)
        if isLost {
            try db.formerStates.keep(notification: notification, as: .discarded, now)
            try db.run(
                "UPDATE deliveries SET state = 'cancelled', updated_at = ? WHERE \(Schema.isLost) AND notification_id = ?",
                [now.milliseconds, notification]
            )
        }
    }
}

import FoundationEssentials
package import StarwatchCore
import Synchronization

extension StoreDeliveries {
    /// Releases the changes that the account's open notifications of an earlier version counted but did not list. They become pending,
    /// for a notification that lists them. The notification keeps its id and the changes that it lists.
    ///
    /// - Returns: The number of released rows.
    package func releaseUnlisted(
        of account: DID,
        now: Timestamp,
        make: NotificationRenewal
    ) async throws(StoreError) -> Int {
        try await store.write(.edit, of: account) { db in
            let open: [(id: Int64, stream: Int64)] = try db.all(
                """
                SELECT n.id, n.stream_id FROM streams s JOIN notifications n ON n.stream_id = s.id
                WHERE s.account = ? AND n.state = 'open' AND n.row_count > ? ORDER BY n.id
                """,
                [db.key(account), NotificationMessage.listedChanges]
            ) { (try $0["id"], try $0["stream_id"]) }
            var released = 0
            for (id, stream) in open {
                guard let listed = try db.notifications.listed(in: id) else { continue }
                released += try db.formerStates.change(
                    rows: """
                        state = 'claimed' AND stream_id = ?3 AND notification_id = ?4
                            AND jwt_id NOT IN (SELECT value FROM json_each(?5))
                        """,
                    [stream, id, listed],
                    as: .released,
                    to: "state = 'pending', notification_id = NULL",
                    now
                ).count
                try db.notifications.renew(id, of: stream, now, make)
            }
            return released
        }
    }

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
    /// same ids. Does nothing if they list exactly the rest.
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
            guard message.count != message.changes.count || !remainder.discarded.isEmpty,
                let (renewed, shortlink) = make(remainder)
            else { continue }
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

    /// The JWT IDs that a notification of an earlier version lists, as JSON; `nil` if it has no more rows than it can
    /// list.
    func listed(in notification: Int64) throws -> String? {
        let row = try db.row(
            "\(Self.allOutgoing) WHERE n.id = ? AND n.row_count > ?",
            [notification, NotificationMessage.listedChanges]
        )
        guard let row, let message = message(row) else { return nil }
        return jsonArray(message.changes.map(\.jwtID))
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

package import StarwatchCore

/// Notifications that the hours of sinks hold.
///
/// A held delivery is due at the moment when its sink opens. At that moment those of one account become one notification, of
/// whichever polls: the carrier, which has no rows of its own. It brings the others to the sink, and its result there is
/// theirs. It belongs to the stream of the last one.
///
/// Notices stay themselves: a pass leases one like a retry, and puts it off when it is about to send it.
extension StoreDeliveries {
    /// Plans the account's held deliveries again, for hours that have changed, for a zone or a clock that was set, and for an
    /// opening that passed while the agent was away.
    ///
    /// - Parameter openings: The moments when each sink opens, the present one if it is open: `first` for a notification that no
    ///   pass has taken up, `again` for a retry or a notice.
    /// - Returns: Whether a sink holds any, or did until its next attempt; and whether ``joinHeld(of:now:newID:make:)`` has work:
    ///   several come to a sink now, and some of them were never handed to it.
    package func planHeld(
        of account: DID,
        openings: [String: (first: Timestamp, again: Timestamp)],
        now: Timestamp
    ) async throws(StoreError) -> (isAny: Bool, isToJoin: Bool) {
        try await store.perform { store throws(StoreError) in
            let deliveries = try store.direct(.read) { db in try db.deliveries.held(of: account) }
            var due: [String: [HeldDelivery]] = [:]
            // The notifications that move, by sink and moment.
            var moves: [String: [Timestamp: [Int64]]] = [:]
            for delivery in deliveries {
                let moment = openings[delivery.sink].flatMap { delivery.moment(of: $0, at: now) }
                if let moment { moves[delivery.sink, default: [:]][moment, default: []].append(delivery.notification) }
                if (moment ?? delivery.until) <= now { due[delivery.sink, default: []].append(delivery) }
            }
            if !moves.isEmpty {
                try store.write(.edit, of: account) { [moves] db in
                    for (sink, moments) in moves {
                        for (moment, ids) in moments { try db.deliveries.move(ids, at: sink, to: moment) }
                    }
                }
            }
            let isToJoin = due.values.contains { atSink in atSink.count > 1 && atSink.contains { !$0.hasBegun } }
            return (!deliveries.isEmpty, isToJoin)
        }
    }

    /// Joins the account's notifications that a sink held until now. Several that are too many for one become as few as
    /// possible, and a single one stays as it is, unless it would replace another of the same moment.
    ///
    /// Only those that were never handed to the sink are joined: the sink can know the others by their ids.
    ///
    /// - Parameters:
    ///   - newID: Makes the id of a notification.
    ///   - make: Renders one. Runs on the store's queue and must not block.
    /// - Returns: The new notifications, which are due.
    package func joinHeld(
        of account: DID,
        now: Timestamp,
        newID: @escaping @Sendable () -> String,
        make: @escaping NotificationRenewal
    ) async throws(StoreError) -> [OutgoingNotification] {
        try await store.write(.claim, of: account) { db in
            guard !db.context.accounts.look(at: account, \.isLeaving) else { return [] }
            return try db.deliveries.join(try db.deliveries.held(of: account, until: now), at: now, newID, make)
        }
    }
}

/// A notification that the hours of a sink hold, or did until its next attempt.
private struct HeldDelivery {
    let notification: Int64
    let stream: Int64
    let sink: String
    /// The end of the hold, which can be over.
    let until: Timestamp
    /// Whether a pass has taken it up, as with a retry or a notice. The sink can then know it, so it is not joined.
    let hasBegun: Bool

    /// The moment to which it moves when its sink opens; `nil` if it stays.
    func moment(of opening: (first: Timestamp, again: Timestamp), at now: Timestamp) -> Timestamp? {
        guard until <= now else {
            let moment = hasBegun ? opening.again : opening.first
            return moment == until ? nil : moment
        }
        // The agent was away when the sink opened, and now it is closed again. What has begun is put off by its attempt.
        return hasBegun || opening.again <= now ? nil : opening.again
    }
}

extension DeliveryRows {
    /// The condition of deliveries `d` that wait only for the hours of their sinks, or waited until their next attempt. Those
    /// with a carrier are not among them: the carrier's delivery has the times.
    static let isHeld = "(d.is_held = 1 AND d.carried_by IS NULL)"

    /// The account's held deliveries, the oldest notification first.
    ///
    /// - Parameter end: Only those whose hold ends by then; `nil` for all.
    fileprivate func held(of account: DID, until end: Timestamp? = nil) throws -> [HeldDelivery] {
        try db.all(
            """
            SELECT n.id, n.stream_id, d.sink, d.next_attempt_at, d.lease > 0 AS has_begun FROM streams s
            CROSS JOIN notifications n ON n.stream_id = s.id CROSS JOIN deliveries d ON d.notification_id = n.id
            WHERE s.account = ? AND n.state = 'open' AND d.state = 'pending' AND d.next_attempt_at <= ?
                AND \(Self.isHeld)
            ORDER BY n.id
            """,
            [db.key(account), end?.milliseconds ?? .max]
        ) {
            HeldDelivery(
                notification: try $0["id"],
                stream: try $0["stream_id"],
                sink: try $0["sink"],
                until: try $0["next_attempt_at"],
                hasBegun: try $0["has_begun"]
            )
        }
    }

    /// Moves notifications that a sink holds to another moment. Links into them live from then on.
    fileprivate func move(_ notifications: [Int64], at sink: String, to opening: Timestamp) throws {
        try db.run(
            """
            UPDATE deliveries SET due_since = due_since + ?1 - next_attempt_at, next_attempt_at = ?1
            WHERE sink = ?2 AND notification_id IN (SELECT value FROM json_each(?3))
            """,
            [opening.milliseconds, sink, jsonArray(notifications)]
        )
        try extendLinks(of: notifications, from: opening)
    }

    /// Lets the links of notifications live from the moment at which a sink can have them.
    func extendLinks(of notifications: [Int64], from opening: Timestamp) throws {
        try db.run(
            """
            UPDATE shortlinks SET expires_at = ?1
            WHERE expires_at < ?1 AND notification_id IN (SELECT value FROM json_each(?2))
            """,
            [(opening + Shortlink.lifetime).milliseconds, jsonArray(notifications)]
        )
    }

    /// Gives the result of a carrier at a sink to the notifications that it brought there.
    ///
    /// - Returns: Their results.
    func finishCarried(
        by ticket: DeliveryTicket,
        as state: DeliveryState,
        reason: FailureReason?,
        _ now: Timestamp
    ) throws -> [DeliveryResult] {
        let carried: [Int64] = try db.values(
            """
            UPDATE deliveries SET state = ?, updated_at = ?, reason = ?
            WHERE carried_by = ? AND sink = ? AND state = 'pending' RETURNING notification_id
            """,
            [state.rawValue, now.milliseconds, reason?.description, ticket.notification, ticket.sink]
        )
        return try carried.sorted().map { notification in
            let sql = "SELECT stream_id FROM notifications WHERE id = ?"
            guard let stream: Int64 = try db.value(sql, [notification]) else { throw StoreError.damaged }
            return try settle(notification, stream, now)
        }
    }

    /// The row ids of the notifications that failed to bring some of `notifications` to sinks.
    ///
    /// `CROSS JOIN` keeps SQLite from reading all lost deliveries.
    func failedCarriers(of notifications: [Int64]) throws -> [Int64] {
        try db.values(
            """
            SELECT DISTINCT n.id FROM json_each(?)
            CROSS JOIN deliveries d ON d.notification_id = json_each.value AND d.\(Schema.isLost)
            CROSS JOIN notifications n ON n.token = d.carried_by
            CROSS JOIN deliveries c ON c.notification_id = n.id AND c.sink = d.sink AND c.\(Schema.isLost)
            ORDER BY n.id
            """,
            [jsonArray(notifications)]
        )
    }

    /// Makes a notification due again at the sinks that did not get it.
    ///
    /// One that another notification brought there goes with that again, if it is due, too; otherwise it goes alone.
    ///
    /// - Parameter sinks: The current sinks, as JSON.
    func reopen(_ notification: Int64, sinks: String, _ now: Timestamp) throws {
        try db.run("UPDATE notifications SET state = 'open', finished_at = NULL WHERE id = ?", [notification])
        try db.run(
            """
            UPDATE deliveries AS d SET
                state = CASE WHEN sink IN (SELECT value FROM json_each(?1)) THEN 'pending' ELSE 'gone' END,
                rejections = 0, lease = lease + 1, leased_until = NULL, due_since = ?2, next_attempt_at = ?2,
                updated_at = ?2, is_held = 0, carried_by = CASE WHEN EXISTS (SELECT 1 FROM notifications n
                    JOIN deliveries c ON c.notification_id = n.id AND c.sink = d.sink
                    WHERE n.token = d.carried_by AND c.state = 'pending') THEN carried_by END
            WHERE notification_id = ?3 AND \(Schema.isLost)
            """,
            [sinks, now.milliseconds, notification]
        )
    }

    /// Lets a carrier that goes again bring also those of its notifications that still wait for other sinks. Their rows have not
    /// ended, so nobody retries them. Later they would go alone, and the sink would get their changes under another id.
    func rejoin(_ carrier: Int64, _ now: Timestamp) throws {
        let isLeft = """
            carried_by = (SELECT token FROM notifications WHERE id = ?1) AND \(Schema.isLost)
                AND EXISTS (SELECT 1 FROM notifications n WHERE n.id = d.notification_id AND n.state = 'open')
                AND EXISTS (SELECT 1 FROM deliveries c
                    WHERE c.notification_id = ?1 AND c.sink = d.sink AND c.state = 'pending')
            """
        let left: [Int64] = try db.values(
            "SELECT DISTINCT notification_id FROM deliveries AS d WHERE \(isLeft)",
            [carrier]
        )
        for id in left { try db.formerStates.keep(notification: id, as: .retried, now) }
        try db.run(
            "UPDATE deliveries AS d SET state = 'pending', rejections = 0, updated_at = ?2 WHERE \(isLeft)",
            [carrier, now.milliseconds]
        )
    }

    /// The rows, and all rows that failed to reach a sink within the same notification as one of them.
    ///
    /// A carrier that goes again brings all of its notifications, and its result is theirs. At another sink these can have
    /// other carriers. Those go again too, and bring theirs.
    func joinedRows(with rows: [Int64]) throws -> [Int64] {
        let notifications: [Int64] = try db.values(
            """
            SELECT DISTINCT notification_id FROM notification_outbox
            WHERE notification_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))
            """,
            [jsonArray(rows)]
        )
        var joined = Set(rows)
        var known: Set<Int64> = []
        var carriers = try failedCarriers(of: notifications)
        while !carriers.isEmpty {
            known.formUnion(carriers)
            let lost = try carriers.flatMap { try lostRows(of: $0) }
            joined.formUnion(lost.map(\.row))
            carriers = try failedCarriers(of: Set(lost.map(\.notification)).sorted()).filter { !known.contains($0) }
        }
        return joined.sorted()
    }

    /// The rows that a carrier failed to bring to a sink, with their notifications.
    private func lostRows(of carrier: Int64) throws -> [(row: Int64, notification: Int64)] {
        // By the changes that it lists, because no index has the finished rows of a notification.
        guard let message = try db.notifications.message(of: carrier) else { return [] }
        return try db.all(
            """
            SELECT o.id, o.notification_id FROM notifications n
            CROSS JOIN streams c ON c.id = n.stream_id CROSS JOIN streams s ON s.account = c.account
            CROSS JOIN notification_outbox o ON o.stream_id = s.id
            WHERE n.id = ? AND o.jwt_id IN (SELECT value FROM json_each(?)) AND EXISTS (SELECT 1 FROM deliveries d
                WHERE d.notification_id = o.notification_id AND d.carried_by = n.token AND d.\(Schema.isLost))
            """,
            [carrier, jsonArray(message.changes.map(\.jwtID))]
        ) { (row: try $0["id"], notification: try $0["notification_id"]) }
    }

    fileprivate func join(
        _ held: [HeldDelivery],
        at now: Timestamp,
        _ newID: () -> String,
        _ make: NotificationRenewal
    ) throws -> [OutgoingNotification] {
        var messages: [Int64: NotificationMessage] = [:]
        for id in Set(held.map(\.notification)) { messages[id] = try db.notifications.message(of: id) }
        let streams = Dictionary(held.map { ($0.notification, $0.stream) }) { $1 }
        // The sinks of the notifications that become one.
        var sinks: [[Int64]: [String]] = [:]
        // The keys of the notifications that come to each sink now.
        var keys: [String: Set<String>] = [:]
        for (sink, deliveries) in Dictionary(grouping: held, by: \.sink) {
            let (groups, taken) = Self.carried(among: deliveries, messages)
            keys[sink] = taken
            for group in groups { sinks[group, default: []].append(sink) }
        }
        let groups = sinks.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return try groups.compactMap { group, sinks in
            let parts = group.compactMap { messages[$0] }
            let taken = sinks.reduce(into: Set<String>()) { $0.formUnion(keys[$1] ?? []) }
            let joined = NotificationPolls.joining(parts, id: newID(), createdAt: now, besides: taken)
            guard let joined else { return nil }
            for sink in sinks { keys[sink, default: []].insert(joined.collapseKey) }
            return try carry(group, joined, in: group.compactMap { streams[$0] }, to: sinks.sorted(), at: now, make)
        }
    }

    /// The notifications for one sink that others are to bring there, in groups, and the keys of those that go alone.
    private static func carried(
        among held: [HeldDelivery],
        _ messages: [Int64: NotificationMessage]
    ) -> (groups: [[Int64]], keys: Set<String>) {
        func canBeJoined(_ held: HeldDelivery) -> Bool {
            messages[held.notification].map(SinkHours.canJoin) ?? false
        }
        let (known, new) = (held.filter(\.hasBegun), held.filter { !$0.hasBegun })
        var keys = Set(known.compactMap { messages[$0.notification]?.collapseKey })
        // Notifications of their own: they get another key only if theirs is taken.
        var own = new.filter { !canBeJoined($0) }
        var carried: [[Int64]] = []
        for joined in groups(of: new.filter(canBeJoined), size: { messages[$0.notification]?.changes.count ?? 0 }) {
            if joined.count == 1 { own += joined } else { carried.append(joined.map(\.notification)) }
        }
        for single in own {
            guard let key = messages[single.notification]?.collapseKey, !keys.insert(key).inserted else { continue }
            carried.append([single.notification])
        }
        return (carried, keys)
    }

    /// Splits notifications, in their order, so that no group has more changes than one notification lists.
    private static func groups(of notifications: [HeldDelivery], size: (HeldDelivery) -> Int) -> [[HeldDelivery]] {
        var groups: [[HeldDelivery]] = []
        var room = 0
        for notification in notifications {
            let count = size(notification)
            if count > room || groups.isEmpty {
                groups.append([])
                room = NotificationMessage.listedChanges
            }
            groups[groups.count - 1].append(notification)
            room -= count
        }
        return groups
    }

    /// Stores the carrier of a group.
    ///
    /// - Parameter streams: Those of its notifications, in their order.
    private func carry(
        _ group: [Int64],
        _ message: NotificationMessage,
        in streams: [Int64],
        to sinks: [String],
        at now: Timestamp,
        _ make: NotificationRenewal
    ) throws -> OutgoingNotification? {
        guard let last = streams.last,
            let found = try db.row("SELECT account, server, poll FROM streams WHERE id = ?", [last])
        else { throw StoreError.damaged }
        let stream = try db.streams.stream(found)
        let offers: [JWTID] = try db.values(
            """
            SELECT jwt_id FROM notification_outbox
            WHERE stream_id IN (SELECT value FROM json_each(?)) AND is_offer = 1
                AND jwt_id IN (SELECT value FROM json_each(?))
            """,
            [jsonArray(Set(streams).sorted()), jsonArray(message.changes.map(\.jwtID))]
        )
        let whole: NotificationRemainder = (stream.poll, message, discarded: [], offers: Set(offers))
        guard let (outgoing, shortlink) = make(whole) else { return nil }
        let carrier = try db.notifications.insert(outgoing, last, now)
        try db.notifications.insertDeliveries(of: carrier, to: sinks, dueAt: now, now: now)
        if let shortlink {
            // In the order of the new notification.
            let items = NotificationMessage(json: outgoing.payload)?.changes ?? message.changes
            let changes = items.compactMap { item in
                JWTID(item.jwtID).map { Change(id: $0, plan: item.plan, name: nil) }
            }
            try db.notifications.store(shortlink, to: changes, of: carrier, stream.account, now)
        }
        try db.run(
            """
            UPDATE deliveries SET carried_by = ? WHERE state = 'pending'
                AND notification_id IN (SELECT value FROM json_each(?)) AND sink IN (SELECT value FROM json_each(?))
            """,
            [outgoing.id, jsonArray(group), jsonArray(sinks)]
        )
        return outgoing
    }
}

extension NotificationRows {
    /// The message of a notification; `nil` if it cannot be read.
    fileprivate func message(of notification: Int64) throws -> NotificationMessage? {
        try db.row("\(Self.allOutgoing) WHERE n.id = ?", [notification]).flatMap { message($0) }
    }
}

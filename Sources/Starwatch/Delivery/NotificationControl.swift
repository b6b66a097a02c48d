import StarwatchCore
import StarwatchStore

/// The notifications of an account, what people do with them, and the feed of their latest.
struct NotificationControl: Sendable {
    let identity: IdentityContext
    let store: Store
    let sinks: [SinkSlot]
    let clock: ServerClock
    let wakes: WakeSignals
    /// The feed; `nil` without a sink of kind `feed`.
    let feed: Feed?
    let handler: ActionHandler
    /// Runs a cycle of a poll now.
    ///
    /// - Throws: ``ControlError`` if the poll is no longer configured.
    let refresh: @Sendable (PollName) async throws(ControlError) -> Void

    func list(_ query: NotificationQuery) async throws -> NotificationListing {
        try ControlError.check(limit: query.limit, upTo: NotificationQuery.listLimit)
        let change: JWTID? = if let name = query.change { try await self.change(name) } else { nil }
        if query.change != nil, change == nil { return NotificationListing(notifications: []) }
        guard let account = try await identity.stored().did else { return NotificationListing(notifications: []) }
        let stored = try await store.notifications.list(
            of: account,
            limit: query.limit,
            before: query.before,
            change: change
        )
        return NotificationListing(
            notifications: stored.map {
                var entry = NotificationEntry($0)
                entry.deliveries = nil
                return entry
            }
        )
    }

    func show(_ id: String) async throws -> NotificationEntry {
        let notification = try await notification(id, of: try await account())
        var entry = NotificationEntry(notification)
        let rows = try await store.stories.rows(of: notification)
        let listed = NotificationMessage(json: notification.payload)?.changes ?? []
        let polls: [String: String] = listed.reduce(into: [:]) { $0[$1.jwtID] = $1.poll }
        entry.changes = rows.map { row in
            let id = row.change.rawValue
            return NotificationEntry.Change(row: row.id, jwtID: id, state: row.state, poll: polls[id])
        }
        // The message still has the changes whose rows are deleted.
        let known = Set(rows.map(\.change.rawValue))
        entry.changes? += listed.filter { !known.contains($0.jwtID) }.map { .init(jwtID: $0.jwtID, poll: $0.poll) }
        return entry
    }

    /// The change that a claim id or the number of a row names; `nil` if the row is not stored.
    private func change(_ name: String) async throws -> JWTID? {
        if let change = JWTID(name) { return change }
        if let row = Int64(name), row > 0 { return try await store.outbox.row(row)?.row.change.id }
        throw ControlError(.invalid, "change must be a claim id, or a row of starwatch outbox list.")
    }

    func act(_ chosen: ChosenAction) async throws -> ActionReport {
        let (id, action) = (chosen.notification, chosen.action)
        let account = try await account()
        let receivers = try await SinkReceiver.all(sinks, of: account, in: store)
        let sinks = receivers.filter { !$0.isDisabled }.map(\.name)
        let record: ActionRecord
        var isNew = false
        switch try await store.notifications.act(action, on: id, of: account, sinks: sinks, now: clock.now) {
        case .unknown: throw Self.noSuchNotification
        case .notOffered: throw ControlError(.conflict, "The notification does not offer this action.")
        case .noSinks: throw ControlError(.conflict, "No sink takes notifications; see starwatch status.")
        case .already(let earlier): record = earlier
        case .done(let new): (record, isNew) = (new, true)
        }
        let notification = try await notification(id, of: account)
        if action == .refresh { try await refresh(notification.poll) }
        if isNew { try await handle(action, notification, of: account) }
        // The dispatcher must learn the new delivery time.
        if isNew, action == .snooze { wakes.dispatch.raise() }
        var report = ActionReport(record, of: id)
        report.already = !isNew
        if [.viewUpdates, .viewProject, .settings].contains(action) {
            report.deepLink = NotificationMessage(json: notification.payload)?.deepLink
        }
        return report
    }

    func shortlink(_ shortlink: Shortlink) async throws -> ShortlinkReport {
        let unknown = ControlError(
            .notFound,
            "The shortlink is not known, or past its 24 hours; open \(DeepLink.notifications.url) in its place."
        )
        guard let account = try await identity.stored().did,
            let found = try await store.notifications.shortlink(shortlink, of: account, now: clock.now)
        else { throw unknown }
        return ShortlinkReport(
            poll: found.poll.rawValue,
            expiresAt: found.expiresAt.iso8601,
            changes: found.targets.map { .init(jwtID: $0.jwt.rawValue, plan: $0.plan) }
        )
    }

    /// Lists the notifications that the feed keeps, newest first.
    func feed(_ query: NotificationQuery) async throws -> FeedListing {
        try ControlError.check(limit: query.limit, upTo: NotificationQuery.listLimit)
        let feed = try keptFeed()
        return FeedListing(notifications: try await feed.list(query, of: identity), id: feed.id(of: identity.served))
    }

    /// Makes or replaces the token in the address of an account's feed. That of the active identity is in a file, and a command
    /// has changed it.
    func changeToken(_ change: FeedTokenChange) async throws -> FeedTokenChange {
        guard let account = identity.served else { return change }
        _ = try keptFeed()
        let new = FeedTokenFile.newToken()
        guard let token = try await store.feed.token(of: account, new: new, replaces: change.operation == .rotate)
        else { throw ControlError.isNoAccount }
        var change = change
        change.token = token
        return change
    }

    /// Follows the feed.
    ///
    /// - Parameter sequence: The sequence of the last notification before; `nil` for new ones only.
    func followFeed(after sequence: Int64?) async throws -> FeedReader {
        if let reader = try await keptFeed().follow(identity, after: sequence) { return reader }
        throw ControlError(
            .busy,
            "Too many follow the notifications already (\(Feed.readerLimit)); end one of them, or try later."
        )
    }

    private func keptFeed() throws -> Feed {
        if let feed { return feed }
        throw ControlError(.conflict, "Nothing keeps notifications; add a sink of kind feed to the configuration.")
    }

    private static let noSuchNotification = ControlError(
        .notFound,
        "There is no notification of that id; starwatch notifications list shows them."
    )

    /// The active identity.
    ///
    /// - Throws: ``ControlError`` if nobody is signed in, because there is then no notification.
    private func account() async throws -> DID {
        if let account = try await identity.stored().did { return account }
        throw Self.noSuchNotification
    }

    private func notification(_ id: String, of account: DID) async throws -> StoredNotification {
        if let found = try await store.notifications.find(id, of: account) { return found }
        throw Self.noSuchNotification
    }

    /// Calls the host's handler of an action.
    private func handle(
        _ action: NotificationAction,
        _ notification: StoredNotification,
        of account: DID
    ) async throws {
        guard let actions = handler.actions, let message = NotificationMessage(json: notification.payload)
        else { return }
        let stored = try await store.notifications.jwts(of: notification, account)
        // The message still contains expired rows, up to its limit.
        let ids = stored.isEmpty ? message.changes.map(\.jwtID) : stored.map(\.rawValue)
        switch action {
        case .viewUpdates: await actions.onViewUpdates(jwtIds: ids)
        case .viewProject:
            guard let change = message.changes.first else { return }
            await actions.onViewProject(projectId: change.plan, jwtId: change.jwtID)
        case .dismiss: await actions.onDismiss(notificationId: notification.id)
        case .snooze:
            await actions.onSnooze(notificationId: notification.id, duration: NotificationAction.snoozeDuration)
        case .markRead: await actions.onMarkRead(jwtIds: ids)
        case .refresh: await actions.onRefresh(poll: notification.poll)
        case .settings: await actions.onSettings(notificationId: notification.id)
        }
    }
}

extension NotificationEntry {
    fileprivate init(_ notification: StoredNotification) {
        let message = NotificationMessage(json: notification.payload)
        row = notification.row
        id = notification.id
        poll = notification.poll.rawValue
        polls = message?.polls
        state = notification.state.rawValue
        group = notification.group.rawValue
        count = message?.count ?? notification.count
        title = notification.title
        body = notification.body
        createdAt = notification.createdAt.iso8601
        deepLink = message?.deepLink
        offers = message?.actions ?? []
        actions = notification.actions.map { ActionReport($0, of: notification.id) }
        repeats = notification.repeats
        deliveries = notification.deliveries.map { OutboxEntry.Delivery($0) }
    }
}

extension ActionReport {
    fileprivate init(_ record: ActionRecord, of notification: String) {
        notificationID = notification
        action = record.action
        doneAt = record.doneAt.iso8601
        repetition = record.repetition
        repeatsAt = record.repetition.map { _ in (record.doneAt + NotificationAction.snoozeDuration).iso8601 }
    }
}

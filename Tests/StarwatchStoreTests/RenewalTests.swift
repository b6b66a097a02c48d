import Foundation
import StarwatchCore
import StarwatchStore
import Testing

/// Notifications of large groups, and notifications that lose changes.
@Suite struct RenewalTests {
    let world = World()

    /// A store whose sink `hook` is optional.
    private func open() async throws -> Store { try await world.open { $0.optionalSinks = ["hook"] } }

    /// Claims all pending rows as real notifications.
    private func announce(
        _ store: Store,
        limit: Int = 1000,
        sinks: [String] = ["a", "b"],
        id: String = "ntf_1"
    ) async throws -> [OpenNotification] {
        let (stream, now) = (world.stream, world.now)
        return try await store.deliveries.claim(
            stream,
            now: now,
            limit: limit,
            leaseUntil: now + .seconds(60),
            sinks: sinks
        ) { rows, part in (Self.notification(of: rows, part, id: id, stream, now), nil) }
    }

    private static func notification(
        of rows: [OutboxRow],
        _ part: NotificationPart?,
        id: String,
        _ stream: StreamKey,
        _ now: Timestamp
    ) -> OutgoingNotification {
        OutgoingNotification(
            NotificationMessage(
                id: part.map { "\(id)_\($0.number)" } ?? id,
                runID: "run",
                poll: stream.poll,
                kind: .starredProjects,
                changes: rows.map(\.change),
                context: NotificationContext(part: part),
                createdAt: now
            )
        )
    }

    private func record(
        _ store: Store,
        _ notification: OpenNotification,
        _ sink: String,
        _ outcome: DeliveryOutcome
    ) async throws -> DeliveryResult {
        let ticket = try #require(notification.tickets.first { $0.sink == sink })
        return try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 1)
    }

    private func refused(_ store: Store, _ notification: OpenNotification, _ sink: String) async throws {
        _ = try await record(store, notification, sink, .rejected(nextAttemptAt: world.now))
    }

    private func due(_ store: Store) async throws -> [OpenNotification] {
        try await world.reclaim(store, until: world.now + .seconds(60))
    }

    private func message(_ notification: OpenNotification) throws -> NotificationMessage {
        try #require(NotificationMessage(json: notification.outgoing.payload))
    }

    private func listed(_ notification: OpenNotification) throws -> [String] {
        try message(notification).changes.map(\.jwtID)
    }

    private func ids(_ range: some Sequence<Int>) -> [String] { range.map { world.id($0).rawValue } }

    private func letters(_ store: Store) async throws -> [Int64] {
        try await store.outbox.ids(.dead, poll: nil, of: world.account)
    }

    private func retryAll(_ store: Store, _ sinks: [String]) async throws -> Int {
        try await store.outbox.retry(
            try await letters(store),
            of: world.account,
            sinks: sinks,
            now: world.now,
            make: renewed
        )
    }

    // MARK: - Large groups

    @Test func everyChangeOfALargeGroupIsListedOnce() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...250))
        let open = try await announce(store)
        #expect(try open.map { try message($0).count } == [100, 100, 50])
        #expect(try open.flatMap { try listed($0) } == ids(1...250))
        #expect(try await store.outboxCounts()[.claimed] == 250)
        #expect(open.allSatisfy { $0.tickets.map(\.sink) == ["a", "b"] })
        for notification in open {
            _ = try await record(store, notification, "a", .ok)
            let named = try listed(notification).compactMap { JWTID($0) }
            #expect(try await record(store, notification, "b", .ok) == .delivered(named))
        }
        #expect(try await store.status.ledger(world.stream).delivered == 250)
        try await world.expectBalanced(store)
    }

    @Test func theIntervalOfAGroupBeginsWhenAllOfItsRowsAreClaimed() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...250))
        _ = try await announce(store, limit: 200)
        #expect(try await store.deliveries.dueSummary(world.stream).lastNotifiedAt == nil)
        #expect(try await announce(store, limit: 200, id: "ntf_2").count == 1)
        try await world.commit(store, world.changes(300...300))
        #expect(try await store.deliveries.dueSummary(world.stream).lastNotifiedAt == world.now)
    }

    @Test func aCrashAfterTheClaimLosesNoPart() async throws {
        var store = try await world.open()
        try await world.commit(store, world.changes(1...250))
        let open = try await announce(store)
        try #require(open.count == 3)
        _ = try await record(store, open[1], "a", .ok)
        await store.close()
        store = try await world.open()
        let again = try await due(store)
        #expect(again.map(\.outgoing) == open.map(\.outgoing))
        #expect(again.map { $0.tickets.map(\.sink) } == [["a", "b"], ["b"], ["a", "b"]])
    }

    // MARK: - Discarded rows

    @Test func aRetryGoesWithoutTheDiscardedRowUnderTheSameID() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let open = try await announce(store)[0]
        _ = try await record(store, open, "a", .ok)
        try await refused(store, open, "b")
        #expect(try await store.outbox.discard([try await letters(store)[1]], now: world.now, make: renewed) == 1)
        #expect(try await retryAll(store, ["a", "b"]) == 2)
        let again = try #require(try await due(store).first)
        #expect(again.id == open.id && again.tickets.map(\.sink) == ["b"])
        let message = try message(again)
        #expect(message.changes.map(\.jwtID) == ids([1, 3]) && message.count == 2 && again.outgoing.count == 2)
        #expect(
            message.body == "You have 2 new updates in your starred projects" && again.outgoing.body == message.body
        )
        #expect(message.deepLink == DeepLink.updates(try #require(LinkedJWTs([world.id(1), world.id(3)]))).url)
        #expect(message.createdAt == (try self.message(open)).createdAt && message.runID == open.runID)
        #expect(try await record(store, again, "b", .ok) == .delivered([world.id(1), world.id(3)]))
        #expect(try await store.status.ledger(world.stream).cancelled == 1)
        try await world.expectBalanced(store)
    }

    @Test func anOpenNotificationGoesWithoutTheDiscardedRow() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let open = try await announce(store)[0]
        _ = try await record(store, open, "a", .ok)
        _ = try await record(store, open, "b", .unavailable(nextAttemptAt: world.now))
        #expect(!store.deliveries.isOutdated(open))
        #expect(try await store.outbox.discard([1], now: world.now, make: renewed) == 1)
        #expect(store.deliveries.isOutdated(open))
        let current = try #require(try await store.deliveries.current(open))
        #expect(current.group == .single && current.body == "name 2 has been updated")
        #expect(try await due(store).map(\.outgoing) == [current])
        #expect(try await store.notifications.find(open.id, of: world.account)?.title == "Project Update")
        #expect(try await store.outbox.discard([2], now: world.now, make: renewed) == 1)
        #expect(try await store.deliveries.current(open) == nil)
        #expect(try await due(store).isEmpty)
        try await world.expectBalanced(store)
    }

    @Test func anOptionalSinkIsNotGivenTheDiscardedRowButStillTheOthers() async throws {
        let store = try await self.open()
        try await world.commit(store, world.changes(1...3))
        let open = try await announce(store, sinks: ["log", "hook"])[0]
        _ = try await record(store, open, "log", .ok)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await refused(store, open, "hook")
        let undelivered = try await letters(store)
        #expect(undelivered.count == 3)
        #expect(try await store.outbox.discard([undelivered[0]], now: world.now, make: renewed) == 1)
        #expect(try await store.outbox.discard([undelivered[0]], now: world.now, make: renewed) == 0)
        #expect(try await letters(store) == Array(undelivered.dropFirst()))
        #expect(try await store.outbox.row(undelivered[0])?.row.undeliveredTo == [])
        #expect(try await retryAll(store, ["log", "hook"]) == 2)
        let again = try #require(try await due(store).first)
        #expect(try listed(again) == ids(2...3) && again.tickets.map(\.sink) == ["hook"])
        try await refused(store, again, "hook")

        #expect(try await store.outbox.discard(try await letters(store), now: world.now, make: renewed) == 2)
        #expect(try await letters(store) == [])
        #expect(try await store.status.snapshot([world.stream]).undelivered == 0)
        try await world.expectBalanced(store)
    }

    @Test func aNotificationWhoseDeadRowsAreDiscardedIsNotSentToAnOptionalSink() async throws {
        let store = try await self.open()
        try await world.commit(store, world.changes(1...2))
        let open = try await announce(store, sinks: ["log", "hook"])[0]
        try await refused(store, open, "log")
        _ = try await record(store, open, "hook", .unavailable(nextAttemptAt: world.now))
        #expect(try await store.outbox.discard(try await letters(store), now: world.now, make: renewed) == 2)
        #expect(try await due(store).isEmpty)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        try await world.expectBalanced(store)
    }

    @Test func aRepetitionGoesWithoutTheDiscardedRowToo() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let open = try await announce(store)[0]
        _ = try await record(store, open, "a", .ok)
        try await refused(store, open, "b")
        _ = try await store.notifications.act(
            .snooze,
            on: open.id,
            of: world.account,
            sinks: ["a", "b"],
            now: world.now
        )
        let dead = try await letters(store)
        _ = try await store.outbox.discard([dead[0]], now: world.now, make: renewed)
        world.now = world.now + NotificationAction.snoozeDuration
        let repetition = try #require(try await due(store).first { $0.id != open.id })
        #expect(try listed(repetition) == ids([2]))
        #expect(try message(repetition).repeats == open.id && message(repetition).id == repetition.id)
        _ = try await store.outbox.discard([dead[1]], now: world.now, make: renewed)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
    }

    /// A sink can have the first part already, so the parts would contradict each other.
    @Test func discardingLeavesTheOtherPartsAndTheTotalOfAGroupAsTheyAre() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...250))
        let open = try await announce(store)
        try #require(open.count == 3)
        _ = try await store.outbox.discard([101, 102], now: world.now, make: renewed)
        #expect(try await store.deliveries.current(open[0]) == open[0].outgoing)
        let second = try #require(try await store.deliveries.current(open[1]))
        let message = try #require(NotificationMessage(json: second.payload))
        #expect(message.place == NotificationPart(number: 2, of: 3, total: 250))
        #expect(message.count == 98)
        #expect(message.body == "98 more of 250" && message.collapseKey == "starred-projects_2")
        #expect(message.changes.map(\.jwtID) == ids(103...200))
    }
}

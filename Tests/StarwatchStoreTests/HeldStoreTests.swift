import StarwatchCore
import Testing

@testable import StarwatchStore

/// Notifications that the hours of a sink hold, in the database.
@Suite struct HeldStoreTests {
    let world = World()

    private func record(
        _ store: Store,
        _ ticket: DeliveryTicket?,
        _ outcome: DeliveryOutcome
    ) async throws -> DeliveryResult {
        try await store.deliveries.record(try #require(ticket), outcome, now: world.now, maxRetries: 1)
    }

    private func backlog(_ store: Store) async throws -> SinkBacklog {
        try #require(try await store.status.snapshot([world.stream]).backlogs["phone"])
    }

    @Test func whatIsStillHeldIsCountedAfterAnEarlierOpening() async throws {
        let store = try await world.open()
        let (first, second) = (world.now + .seconds(100), world.now + .seconds(200))
        try await world.announce(store, 1, heldUntil: first)
        try await world.announce(store, 2, heldUntil: second)
        let backlog = try await backlog(store)
        #expect(backlog.notifications == 2 && backlog.rows == 2)
        #expect(backlog.held(at: world.now) == HealthFacts.HeldChanges(count: 2, until: first))
        #expect(backlog.oldestDue(at: world.now) == nil)
        #expect(backlog.held(at: first) == HealthFacts.HeldChanges(count: 1, until: second))
        #expect(backlog.oldestDue(at: first) == first)
        #expect(backlog.held(at: second) == nil)
    }

    @Test func aDeliveryThatFailedForLongerThanANightIsHeldByNight() async throws {
        let store = try await world.open()
        let begin = world.now
        let ticket = try await world.announce(store, 1).tickets.first
        _ = try await record(store, ticket, .unavailable(nextAttemptAt: begin))
        world.now = begin + .seconds(15 * 3600)
        let again = try await world.reclaim(store, until: world.now + .seconds(60)).first
        let opening = world.now + .seconds(9 * 3600)
        _ = try await record(store, again?.tickets.first, .held(until: opening))
        #expect(try await backlog(store).held(at: world.now) == HealthFacts.HeldChanges(count: 1, until: opening))
        #expect(try await backlog(store).oldestDue(at: world.now) == nil)
        #expect(try await backlog(store).oldestDue(at: opening) == begin + .seconds(9 * 3600))
        let row = try #require(try await store.outbox.list(OutboxFilter()).first)
        #expect(row.heldBy == ["phone"] && row.heldUntil == opening)

        world.now = opening
        let morning = try await world.reclaim(store, until: world.now + .seconds(60)).first
        _ = try await record(store, morning?.tickets.first, .unavailable(nextAttemptAt: opening + .seconds(60)))
        #expect(try await backlog(store).held(at: opening) == nil)
        #expect(try await store.outbox.list(OutboxFilter()).first?.heldBy == [])
    }

    /// Otherwise every delivery would pay for the hours of a few sinks.
    @Test func aNotificationThatBringsNoOthersUpdatesNoOthers() async throws {
        let store = try await world.open()
        let ticket = try await world.announce(store, 1).tickets.first
        let statements = try await Recorded.statements(of: store) { _ = try await record(store, ticket, .ok) }
        #expect(statements.contains { $0.hasPrefix("UPDATE deliveries") })
        #expect(!statements.contains { $0.hasPrefix("UPDATE deliveries") && $0.contains("WHERE carried_by") })
    }

    /// A zone that is set can move thousands in one pass.
    @Test func allThatMoveToOneMomentMoveTogether() async throws {
        let store = try await world.open()
        let (first, second) = (world.now + .seconds(100), world.now + .seconds(200))
        for n in 1...3 { try await world.announce(store, n, heldUntil: first, sinks: ["phone", "tablet"]) }
        let openings = ["phone": (first: second, again: second), "tablet": (first: first, again: second)]
        let statements = try await Recorded.statements(of: store) {
            let planned = try await store.deliveries.planHeld(of: world.account, openings: openings, now: world.now)
            #expect(planned.isAny && !planned.isToJoin)
        }
        #expect(statements.count { $0.hasPrefix("UPDATE deliveries") } == 1)
        #expect(statements.count { $0.hasPrefix("UPDATE shortlinks") } == 1)
        #expect(try await backlog(store).held(at: world.now) == HealthFacts.HeldChanges(count: 3, until: second))
        #expect(try await backlog(store).oldestDue(at: second) == second)
        let tablet = try #require(try await store.status.snapshot([world.stream]).backlogs["tablet"])
        #expect(tablet.held(at: world.now) == HealthFacts.HeldChanges(count: 3, until: first))
    }

    @Test func aJoinThatFailsInTheMiddleLeavesEverythingToTheNext() async throws {
        let store = try await world.open()
        let opening = world.now + .seconds(100)
        try await world.announce(store, 1, heldUntil: opening, sinks: ["phone", "tablet"])
        try await world.announce(store, 2, heldUntil: opening, sinks: ["phone", "tablet"])
        try await world.announce(store, 3, heldUntil: opening)
        world.now = opening
        // Two sinks get different notifications. The second one cannot have the id of the first.
        await #expect(throws: StoreError.self) { try await world.joinHeld(store) { "ntf_joined" } }
        let held = HealthFacts.HeldChanges(count: 3, until: opening)
        #expect(try await backlog(store).notifications == 3)
        #expect(try await backlog(store).held(at: opening - .seconds(1)) == held)

        let ids = Witness()
        let joined = try await world.joinHeld(store) {
            ids.add("id")
            return "ntf_joined_\(ids["id"])"
        }
        #expect(joined.map(\.count) == [2, 3])
        let open = try await world.reclaim(store, until: opening + .seconds(60))
        #expect(open.map(\.outgoing) == joined)
        #expect(open.map { $0.tickets.map(\.sink) } == [["tablet"], ["phone"]])
        for notification in open { _ = try await record(store, notification.tickets.first, .ok) }
        #expect(try await store.outboxCounts()[.delivered] == 3)
        #expect(try await world.reclaim(store, until: opening + .seconds(60)).isEmpty)
        try await world.expectBalanced(store)
    }

    /// Rows, results, ledgers and shortlinks are by stream, and a joined notification is of several.
    @Test func theResultOfANotificationOfSeveralPollsIsBookedInTheirStreams() async throws {
        let other = StreamKey(account: world.account, server: World.server, poll: PollName("offers_to_me")!)
        let store = try await world.open { $0.polls.formUnion([other.poll]) }
        let opening = world.now + .seconds(100)
        try await world.announce(store, 1, of: other, heldUntil: opening)
        try await world.announce(store, 2, heldUntil: opening)
        world.now = opening
        let joined = try await world.joinHeld(store) { "ntf_joined" }
        #expect(joined.map(\.count) == [2] && joined.map(\.poll) == [world.stream.poll.rawValue])

        let open = try await world.reclaim(store, until: opening + .seconds(60))
        #expect(open.map(\.outgoing) == joined && open.map(\.stream) == [world.stream])
        let result = try await record(store, open.first?.tickets.first, .rejected(nextAttemptAt: opening))
        #expect(result == .several([.dead([]), .dead([world.id(1)]), .dead([world.id(2)])]))
        for stream in [world.stream, other] { #expect(try await store.status.ledger(stream).dead == 1) }
        let dead = try await store.outbox.ids(.dead, poll: nil, of: world.account)
        let retried = try await store.outbox.retry(
            [try #require(dead.first)],
            of: world.account,
            sinks: ["phone"],
            now: opening,
            make: renewed
        )
        #expect(retried == 2)

        let again = try await world.reclaim(store, until: opening + .seconds(60))
        #expect(again.map(\.outgoing) == joined)
        let end = try await record(store, again.first?.tickets.first, .ok)
        #expect(end.deliveredRows == [world.id(1), world.id(2)])
        for stream in [world.stream, other] {
            let ledger = try await store.status.ledger(stream)
            #expect(ledger.dead == 0 && ledger.delivered == 1)
        }
        #expect(try await world.reclaim(store, until: opening + .seconds(60)).isEmpty)
        try await world.expectBalanced(store)
    }
}

extension World {
    /// Stores a change, and claims it as a notification `ntf_n`.
    ///
    /// - Parameter opening: The moment until which the sinks hold it; `nil` if they do not.
    @discardableResult
    func announce(
        _ store: Store,
        _ n: Int,
        of stream: StreamKey? = nil,
        heldUntil opening: Timestamp? = nil,
        sinks: [String] = ["phone"]
    ) async throws -> OpenNotification {
        let (stream, now) = (stream ?? self.stream, now)
        try await commit(store, [change(n)], stream: stream)
        let open = try await store.deliveries.claim(
            stream,
            now: now,
            limit: 100,
            leaseUntil: now + .seconds(60),
            sinks: sinks,
            held: opening.map { opening in Dictionary(uniqueKeysWithValues: sinks.map { ($0, opening) }) } ?? [:]
        ) { rows, part in
            let message = NotificationMessage(
                id: "ntf_\(n)",
                runID: "run",
                poll: stream.poll,
                kind: .starredProjects,
                changes: rows.map(\.change),
                context: NotificationContext(part: part),
                createdAt: now
            )
            return (OutgoingNotification(message), nil)
        }
        return try #require(open.first)
    }

    /// Joins what the sinks held until now.
    func joinHeld(
        _ store: Store,
        newID: @escaping @Sendable () -> String
    ) async throws -> [OutgoingNotification] {
        try await store.deliveries.joinHeld(of: account, now: now, newID: newID, make: renewed)
    }
}

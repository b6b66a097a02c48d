import StarwatchCore
import StarwatchStore
import Testing

@Suite struct DeliveryTests {
    let world = World()

    @Test func deliveryIsStoredWhenAllSinksHaveAnswered() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let notification = try #require(try await world.claim(store, sinks: ["a", "b"]))
        #expect(notification.outgoing.count == 3)
        #expect(try await store.outboxCounts()[.claimed] == 3)
        #expect(try await record(store, notification.tickets[0], .ok) == .waiting)
        #expect(try await record(store, notification.tickets[1], .ok) == .delivered(world.changes(1...3).map(\.id)))
        #expect(try await store.status.ledger(world.stream).delivered == 3)
        #expect(try await store.status.snapshot([world.stream]).streams[world.stream]?.lastNotifiedAt == world.now)
        try await world.expectBalanced(store)
    }

    @Test func crashLeavesTheSameNotificationDueAgain() async throws {
        var store: Store? = try await world.open()
        try await world.commit(store!, world.changes(1...3))
        let notification = try #require(try await world.claim(store!, sinks: ["a", "b"]))
        _ = try await record(store!, notification.tickets[0], .ok)
        #expect(try await world.reclaim(store!, until: world.now).isEmpty)
        await store?.close()
        store = nil
        store = try await world.open()
        let open = try await world.reclaim(store!, until: world.now + .seconds(60))
        #expect(open.map(\.id) == [notification.id])
        #expect(open[0].outgoing == notification.outgoing)
        #expect(open[0].tickets.map(\.sink) == ["b"])
        #expect(try await record(store!, notification.tickets[1], .ok) == .stale)
        #expect(try await record(store!, open[0].tickets[0], .ok) == .delivered(world.changes(1...3).map(\.id)))
        try await world.expectBalanced(store!)
    }

    /// Another account can be at work in this process, or in another one.
    @Test func aStartFreesTheLeasesOfItsAccountOnly() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let notification = try #require(try await world.claim(store))
        try await store.deliveries.freeLeases(of: World.bob)
        #expect(try await world.reclaim(store, until: world.now).isEmpty)
        #expect(try await store.deliveries.nextAt(of: World.bob) == nil)
        try await store.deliveries.freeLeases(of: world.account)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now)
        #expect(try await store.deliveries.reclaim(of: World.bob, now: world.now, leaseUntil: world.now).isEmpty)
        let open = try await world.reclaim(store, until: world.now)
        #expect(open.map(\.id) == [notification.id])
    }

    @Test func expiredLeaseFencesItsHolder() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let first = try #require(try await world.claim(store, lease: .seconds(10)))
        world.now = world.now + .seconds(10)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now)
        let second = try await world.reclaim(store, until: world.now + .seconds(10))
        #expect(try await record(store, first.tickets[0], .rejected(nextAttemptAt: world.now)) == .stale)
        #expect(try await record(store, second[0].tickets[0], .ok) == .delivered([world.id(1)]))
        #expect(try await record(store, second[0].tickets[0], .ok) == .stale)
    }

    @Test func tooManyRejectionsMakeARowDead() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        var ticket = try #require(try await world.claim(store)).tickets[0]
        for attempt in 1...2 {
            let next = world.now + .seconds(attempt)
            #expect(try await record(store, ticket, .rejected(nextAttemptAt: next)) == .waiting)
            #expect(try await world.reclaim(store, until: next).isEmpty)
            world.now = next
            let open = try await world.reclaim(store, until: world.now + .seconds(9))
            ticket = try #require(open.first).tickets[0]
            #expect(ticket.rejections == attempt)
        }
        let ids = world.changes(1...2).map(\.id)
        #expect(try await record(store, ticket, .rejected(nextAttemptAt: world.now)) == .dead(ids))
        #expect(try await store.status.ledger(world.stream).dead == 2)
        #expect(try await store.status.snapshot([]).oldestDead == world.now)
        let rows = try await store.outbox.list(OutboxFilter())
        #expect(rows.map(\.retryCount) == [3, 3])
        let detail = try await store.outbox.row(rows[0].id)
        #expect(detail?.deliveries.map(\.attempts) == [3])
        #expect(detail?.deliveries.map(\.state) == [.rejected])
        try await world.expectBalanced(store)
    }

    @Test func anUnavailableSinkCostsNoRetry() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        var ticket = try #require(try await world.claim(store)).tickets[0]
        for _ in 1...10 {
            #expect(try await record(store, ticket, .unavailable(nextAttemptAt: world.now)) == .waiting)
            ticket = try #require(
                try await world.reclaim(store, until: world.now + .seconds(9)).first
            ).tickets[0]
        }
        #expect(ticket.rejections == 0)
        #expect(ticket.earlierAttempts == 10)
        #expect(try await record(store, ticket, .ok) == .delivered([world.id(1)]))
    }

    /// A notification of two rows that `a` accepted, `b` rejected and `c` left.
    private func rejectedByOne(_ store: Store) async throws -> DeliveryResult {
        try await world.commit(store, world.changes(1...2))
        let notification = try #require(try await world.claim(store, sinks: ["a", "b", "c"]))
        _ = try await record(store, notification.tickets[0], .ok)
        _ = try await store.deliveries.record(
            notification.tickets[1],
            .rejected(nextAttemptAt: world.now),
            now: world.now,
            maxRetries: 1
        )
        return try await record(store, notification.tickets[2], .gone)
    }

    private func dead(_ store: Store) async throws -> [Int64] {
        var filter = OutboxFilter()
        filter.states = [.dead]
        return try await store.outbox.list(filter).map(\.id)
    }

    @Test func anAcceptingSinkDoesNotCompensateForARejectingOne() async throws {
        let store = try await world.open()
        let ids = world.changes(1...2).map(\.id)
        #expect(try await rejectedByOne(store) == .dead(ids))
        try await world.expectBalanced(store)

        // Retries one of the two rows; both were announced together.
        let row = try #require(try await dead(store).first)
        world.now = world.now + .seconds(60)
        #expect(
            try await store.outbox.retry(
                [row],
                of: world.account,
                sinks: ["a", "b", "c"],
                now: world.now,
                make: renewed
            ) == 2
        )
        try await world.expectBalanced(store)
        let open = try await world.reclaim(store, until: world.now + .seconds(60))
        #expect(open.map(\.id) == ["ntf_1"])
        let tickets = open.flatMap(\.tickets)
        #expect(tickets.map(\.sink) == ["b"])
        #expect(tickets.map(\.rejections) == [0])
        #expect(try await record(store, tickets[0], .ok) == .delivered(ids))
        #expect(try await store.outboxCounts()[.delivered] == 2)
        try await world.expectBalanced(store)
    }

    @Test func rowsRejectedOnlyByAFormerSinkAreDeliveredByARetry() async throws {
        let store = try await world.open()
        _ = try await rejectedByOne(store)
        #expect(
            try await store.outbox.retry(
                try await dead(store),
                of: world.account,
                sinks: ["a"],
                now: world.now,
                make: renewed
            ) == 2
        )
        #expect(try await store.outboxCounts()[.delivered] == 2)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        try await world.expectBalanced(store)
    }

    @Test func oneAcceptingSinkIsEnoughIfTheOthersAreGone() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let notification = try #require(try await world.claim(store, sinks: ["a", "b"]))
        _ = try await record(store, notification.tickets[0], .ok)
        #expect(try await record(store, notification.tickets[1], .gone) == .delivered([world.id(1)]))
    }

    @Test func rowsStayPendingWhenEverySinkIsGone() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let notification = try #require(try await world.claim(store))
        #expect(try await record(store, notification.tickets[0], .gone) == .released(rows: 2))
        #expect(try await store.outboxCounts()[.pending] == 2)
        #expect(try await world.claim(store, sinks: []) == nil)
        try await world.expectBalanced(store)
    }

    @Test func unconfiguredSinksAreNotWaitedFor() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let notification = try #require(try await world.claim(store, sinks: ["a", "old"]))
        _ = try await record(store, notification.tickets[0], .ok)
        #expect(
            try await store.deliveries.retainSinks(["a"], of: world.account, now: world.now) == [
                .delivered(world.changes(1...2).map(\.id))
            ]
        )
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
    }

    @Test func claimsFollowPriorityThenAgeThenIdentifier() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes([5, 3])) { $0.cursor = .unchanged }
        world.now = world.now + .seconds(1)
        try await world.commit(store, world.changes([1])) { $0.cursor = .unchanged }
        try await world.commit(store, world.changes([9])) {
            $0.cursor = .unchanged
            $0.priority = 1
        }
        let witness = Witness()
        let expected = world.changes([9, 3, 5]).map(\.id)
        _ = try await store.deliveries.claim(
            world.stream,
            now: world.now,
            limit: 3,
            leaseUntil: world.now,
            sinks: ["a"]
        ) { rows, _ in
            #expect(rows.map(\.change.id) == expected)
            witness.add("made")
            return (.made("ntf_o", count: rows.count), nil)
        }
        #expect(witness["made"] == 1)
        #expect(try await store.deliveries.dueSummary(world.stream).count == 1)
    }

    @Test func deadRowsCanBeRetriedAndDiscarded() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await world.killAll(store)
        var filter = OutboxFilter()
        filter.states = [.dead]
        let dead = try await store.outbox.list(filter).map(\.id)
        #expect(dead.count == 3)
        #expect(
            try await store.outbox.retry(
                [dead[0], 999],
                of: world.account,
                sinks: ["log"],
                now: world.now,
                make: renewed
            ) == 1
        )
        #expect(try await store.outbox.discard([dead[1]], now: world.now, make: renewed) == 1)
        #expect(try await store.outbox.discard([dead[1]], now: world.now, make: renewed) == 0)
        let ledger = try await store.status.ledger(world.stream)
        #expect(ledger.dead == 1)
        #expect(ledger.cancelled == 1)
        #expect(try await store.outboxCounts()[.pending] == 1)
        try await world.expectBalanced(store)
        #expect(try await world.deliverAll(store) == 1)
        try await world.expectBalanced(store)
    }

    private func record(
        _ store: Store,
        _ ticket: DeliveryTicket,
        _ outcome: DeliveryOutcome
    ) async throws
        -> DeliveryResult
    {
        try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 3)
    }
}

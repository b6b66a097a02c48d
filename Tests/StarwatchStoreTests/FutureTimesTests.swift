import StarwatchCore
import StarwatchStore
import Testing

/// Times stored under a clock that was ahead do not block until the clock has caught up.
@Suite struct FutureTimesTests {
    let world = World()

    private func settle(_ store: Store) async throws {
        try await store.deliveries.settleFutureTimes(
            of: world.account,
            now: world.now,
            local: world.now,
            lease: .seconds(120),
            longestWait: .seconds(75)
        )
    }

    @Test func aRetryKeepsItsDelay() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store))
        _ = try await store.deliveries.record(
            open.tickets[0],
            .unavailable(nextAttemptAt: world.now + .seconds(40)),
            now: world.now,
            maxRetries: 3
        )
        world.now = world.now - .days(1)
        try await settle(store)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now + .seconds(40))
        // A second call changes nothing.
        world.now = world.now + .seconds(10)
        try await settle(store)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now + .seconds(30))
    }

    @Test func aLeaseKeepsItsLength() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        _ = try await world.claim(store)
        world.now = world.now - .days(1)
        try await settle(store)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now + .seconds(120))
    }

    @Test func rowsAndTheLastNotificationMoveToNow() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        try await world.deliverAll(store)
        try await world.commit(store, world.changes(2...2))
        world.now = world.now - .days(1)
        try await settle(store)
        let due = try await store.deliveries.dueSummary(world.stream)
        #expect(due.oldestCreatedAt == world.now)
        #expect(due.lastNotifiedAt == world.now)
    }

    @Test func theTimesOfPollsMoveToNowByTheLocalClock() async throws {
        let store = try await world.open()
        var cycle = CycleRecord(
            stream: world.stream,
            runID: "run",
            startedAt: world.now,
            finishedAt: world.now,
            outcome: .failed
        )
        cycle.successAt = world.now
        try await store.polls.finishCycle(cycle)
        let local = world.now - .days(30)
        // The server's clock says nothing of them.
        try await store.deliveries.settleFutureTimes(
            of: world.account,
            now: world.now,
            local: local,
            lease: .zero,
            longestWait: .zero
        )
        let stream = try await store.status.snapshot([world.stream]).streams[world.stream]
        #expect(stream?.lastSuccess == local)
        #expect(stream?.lastAttempt == local)
        let run = try await store.stories.run("run").cycle
        #expect(run?.startedAt == local.milliseconds && run?.finishedAt == local.milliseconds)
    }

    @Test func theNextWalkSettlesAnEvictedRowThatTheServerLacks() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        #expect(try await world.evict(store, .fifo, limit: 2) > 0)
        world.now = world.now - .days(1)
        try await settle(store)
        world.now = world.now + .seconds(60)
        let walkStart = world.now
        let counts = try await world.commit(store, []) {
            $0.completed = .init(after: nil, through: world.id(3), startedAt: walkStart)
        }
        #expect((counts?.superseded ?? 0) > 0)
    }

    @Test func anAcknowledgementWaitsAtMostItsLongestBackoff() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.deliverAll(store)
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "key" }
        )
        try await store.acknowledgements.postpone(batch, until: world.now + .seconds(2))
        world.now = world.now - .days(1)
        try await settle(store)
        #expect(try await store.acknowledgements.nextAt(world.stream) == world.now + .seconds(75))
    }
}

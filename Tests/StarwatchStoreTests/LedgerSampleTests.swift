import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// The numbers of changes of the last 24 hours, and the state of each sink's backlog and each poll's failures.
@Suite struct LedgerSampleTests {
    let world = World()

    @Test func theLastDayCountsWhatRetentionHasDeletedAndNothingOlder() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await store.status.sampleLedger(now: world.now)
        var day = try await store.status.ledgerOfLastDay(now: world.now)
        #expect((day.new, day.delivered, day.acknowledged, day.dead) == (5, 5, 5, 0))
        world.now = world.now + .seconds(3600)
        try await world.commit(store, world.changes(6...7))
        try await world.killAll(store)
        try await store.status.sampleLedger(now: world.now)
        day = try await store.status.ledgerOfLastDay(now: world.now + .seconds(23 * 3600 - 1))
        #expect((day.new, day.dead) == (7, 2))
        // The five are older than a day now, and the two are not.
        day = try await store.status.ledgerOfLastDay(now: world.now + .seconds(23 * 3600))
        #expect((day.new, day.delivered, day.dead) == (2, 0, 2))
        day = try await store.status.ledgerOfLastDay(now: world.now + .days(1))
        #expect((day.new, day.dead) == (0, 0))
    }

    @Test func samplesThatNoTotalNeedsAreDeletedAndAClockSetBackDoesNoHarm() async throws {
        let store = try await world.open()
        for _ in 0..<200 {
            try await store.status.sampleLedger(now: world.now)
            world.now = world.now + .seconds(900)
        }
        try await world.commit(store, world.changes(1...3))
        try await store.status.sampleLedger(now: world.now + .days(365))
        try await store.status.sampleLedger(now: world.now)
        #expect(try await store.status.ledgerOfLastDay(now: world.now).new <= 3)
        let samples = try await DatabaseQueue(path: world.path).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM ledger_samples") ?? 0
        }
        #expect(samples <= 98)
    }

    @Test func theBacklogOfASinkSaysWhenItIsTriedNext() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let notification = try #require(try await world.claim(store, sinks: ["hook"]))
        let next = world.now + .seconds(40)
        _ = try await store.deliveries.record(
            notification.tickets[0],
            .rejected(nextAttemptAt: next),
            now: world.now,
            maxRetries: 3
        )
        let backlog = try #require(try await store.status.snapshot([world.stream]).backlogs["hook"])
        #expect(backlog.notifications == 1)
        #expect(backlog.oldestDue == world.now)
        #expect(backlog.nextAttempt == next)
    }

    @Test func theFailuresOfAPollBeginWithTheFirstSinceTheLastSuccess() async throws {
        let store = try await world.open()
        var expected: Timestamp?
        var failures = [1, 0, 1, 1, 2, 2, 0].makeIterator()
        for (second, outcome) in [
            (0, PollOutcome.failed), (10, .changed), (20, .failed), (25, .cancelled), (30, .deferred), (40, .failed),
            (50, .changed),
        ] {
            let now = world.now + .seconds(second)
            var cycle = CycleRecord(
                stream: world.stream,
                runID: "run_\(second)",
                startedAt: now,
                finishedAt: now,
                outcome: outcome
            )
            if outcome == .changed { cycle.successAt = now }
            try await store.polls.finishCycle(cycle)
            expected = second == 0 || second == 20 ? now : outcome == .changed ? nil : expected
            let stream = try #require(try await store.status.snapshot([world.stream]).streams[world.stream])
            if outcome != .cancelled { #expect(stream.failingSince == expected) }
            #expect(stream.failures == failures.next())
        }
    }
}

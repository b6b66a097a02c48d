import FoundationEssentials
import StarwatchCore
import StarwatchStore
import Testing

/// Counters of the ledger. They never fall, whatever becomes of the rows, the account or the process.
@Suite struct LedgerTotalsTests {
    let world = World()

    @Test func theTotalsAreThoseOfTheLedger() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.status.ledgerTotals() == store.status.ledger(world.stream))
        #expect(try await store.status.snapshot([world.stream]).totals.acknowledged == 5)
    }

    @Test func aRetriedDeadLetterDoesNotTakeTheCountBack() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.killAll(store)
        var filter = OutboxFilter()
        filter.states = [.dead]
        let dead = try await store.outbox.list(filter).map(\.id)
        let retried = try await store.outbox.retry(
            dead,
            of: world.account,
            sinks: ["log"],
            now: world.now,
            make: renewed
        )
        #expect(retried == 2)
        #expect(try await store.status.ledger(world.stream).dead == 0)
        #expect(try await store.status.ledgerTotals().dead == 2)
        try await world.killAll(store, id: "ntf_again")
        #expect(try await store.status.ledgerTotals().dead == 4)
        #expect(try await store.status.snapshot([world.stream]).totals.dead == 4)
    }

    /// A `kill -9` leaves the database and its log on the disk, without a close.
    @Test func theTotalsSurviveAKill() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        let before = try await store.status.ledgerTotals()
        let after = World()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: world.path + suffix, toPath: after.path + suffix)
        }
        let next = try await after.open()
        #expect(before.delivered == 5)
        #expect(try await next.status.ledgerTotals() == before)
    }

    @Test func theTotalsSurviveTheAccount() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.removeAccount(World.alice, now: world.now)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await store.status.ledger(world.stream) == Ledger())
        #expect(try await store.status.ledgerTotals().new == 5)
    }
}

import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

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
        #expect(
            try await store.outbox.retry(dead, of: world.account, sinks: ["log"], now: world.now, make: renewed) == 2
        )
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

    /// Of many processes each adds to a row of its own, and none waits for another.
    @Test func eachStartAddsToARowOfItsOwn() async throws {
        var store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let first = try starts()
        #expect(first.count == 1)
        await store.close()
        store = try await world.open()
        #expect(try await store.status.ledgerTotals().new == 3)
        #expect(try starts() == first)
        try await world.commit(store, world.changes(4...5))
        let second = try starts()
        // The row of the former start has become that of all former ones.
        #expect(second.count == 2 && second[""] == 3 && Set(second.values) == [3, 2])
        await store.close()
        store = try await world.open()
        try await world.commit(store, world.changes(6...9))
        #expect(try starts().count == 2)
        #expect(try starts()[""] == 5)
        #expect(try await store.status.ledgerTotals() == store.status.ledger(world.stream))
    }

    /// A transaction that fails takes back its rises and the merge of former starts.
    @Test func aFailedFirstWriteLosesNoTotal() async throws {
        var store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        await store.close()
        store = try await world.open()
        let stream = world.stream
        await #expect(throws: StoreError.full) {
            try await store.write(.commit, of: stream) { db, id in
                try db.ledger.add(9, as: \.new, to: id)
                throw StoreError.full
            }
        }
        #expect(try await store.status.ledgerTotals().new == 3)
        try await world.commit(store, world.changes(4...5))
        #expect(try await store.status.ledgerTotals().new == 5)
    }

    @Test(.enabled(if: World.isClear)) func theTotalsOfAFormerVersionStay() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let dump = try String(contentsOf: folder.appending(path: "Dumps/version-9.sql"), encoding: .utf8)
        let database = try DatabaseQueue(path: world.path)
        try await database.writeWithoutTransaction { try $0.execute(sql: dump) }
        let before = try await database.read { try Int.fetchOne($0, sql: "SELECT new FROM ledger_totals") }
        try database.close()
        #expect(chmod(world.path, 0o600) == 0)
        let store = try await world.open()
        #expect(try await store.status.ledgerTotals().new == before)
        #expect(before == 5)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(21...22))
        #expect(try await store.status.ledgerTotals().new == 7)
    }

    /// The entries of new changes by the start that counted them.
    private func starts() throws -> [String: Int] {
        try DatabaseQueue(path: world.path).read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT start, new FROM ledger_totals")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["start"], $0["new"]) })
        }
    }
}

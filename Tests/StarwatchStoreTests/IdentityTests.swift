import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Synchronization
import Testing

@Suite struct IdentityTests {
    let world = World()

    @Test func aChangeCancelsOpenRowsAndResetsTheNewIdentity() async throws {
        let store = try await world.open()
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...4))
        let claimed = try #require(try await world.claim(store, limit: 2))
        let change = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(change.changed)
        #expect(change.cancelledRows == 4)
        #expect(change.identity.generation == 2)
        #expect(try await store.deliveries.record(claimed.tickets[0], .ok, now: world.now, maxRetries: 3) == .stale)
        #expect(try await world.reclaim(store, at: world.now + .days(1), until: world.now).isEmpty)
        #expect(try await store.status.ledger(world.stream).cancelled == 4)
        #expect(try await store.stars.list(of: World.alice).isEmpty)
        #expect(try await store.stars.archived(of: World.alice).map(\.stars) == [["plan"]])
        try await world.expectBalanced(store)
    }

    @Test func aRemovedAccountIsDeletedAfterThirtyDaysUnlessItReturns() async throws {
        let store = try await world.open()
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...4))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await world.commit(store, world.changes(5...6))
        try await world.commit(store, items: [world.item(1)])
        // Of the year 2100, so that they do not expire by themselves.
        try await DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    INSERT INTO delivery_attempts
                        SELECT id, 'log', 1, created_at, 4102444800000, 'ok', NULL, NULL, NULL FROM notifications;
                    INSERT INTO former_states (row_id, step, at) SELECT id, 'retried', 4102444800000 FROM notification_outbox;
                    INSERT INTO quarantine (stream_id, fingerprint, kind, issues, page, run_id, created_at, seen_at)
                        SELECT id, 1, 'schema', '[]', 1, 'run', 1, 4102444800000 FROM streams;
                    UPDATE watermark_moves SET moved_at = 4102444800000;
                    """
            )
        }
        #expect(try filled(Self.tablesOfStreams) == Self.tablesOfStreams)
        #expect(try await store.identity.removeAccount(World.alice, now: world.now) == .active)
        #expect(try await store.identity.removeAccount(World.bob, now: world.now) == .unknown)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        try await store.identity.setNotificationPreferences(
            #"{"starredProjects": false}"#,
            of: World.alice,
            server: World.server,
            now: world.now
        )
        #expect(try await store.identity.removeAccount(World.alice, now: world.now) == .removed(at: world.now))
        let later = world.now + .days(1)
        #expect(try await store.identity.removeAccount(World.alice, now: later) == .removed(at: world.now))

        // Returning removes the mark.
        _ = try await store.identity.set(World.alice, server: World.server, now: later)
        _ = try await store.identity.set(World.bob, server: World.server, now: later)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(40)).settings == 0)
        #expect(try await store.identity.removeAccount(World.alice, now: later) == .removed(at: later))
        #expect(try await store.retention.apply(RetentionPolicy(), now: later + .days(30)).settings == 0)
        #expect(try await store.retention.apply(RetentionPolicy(), now: later + .seconds(1) + .days(30)).settings == 1)
        #expect(try await store.stars.interests(of: World.alice).preferences == "{}")
        #expect(try await store.identity.removeAccount(World.alice, now: later) == .unknown)
        #expect(try await store.identity.active().did == World.bob)
        #expect(try await world.integrityCheck().isEmpty)
        #expect(try mentions(of: World.alice) == [])
        #expect(try filled(Self.tablesOfStreams) == [])
    }

    /// Tables whose rows belong to an account through its streams or notifications.
    private static let tablesOfStreams = [
        "deliveries", "delivery_attempts", "former_states", "list_states", "notification_outbox", "quarantine",
        "seen_items", "watermark_moves",
    ]

    private func filled(_ tables: [String]) throws -> [String] {
        try DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try tables.filter { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? 0 > 0 }
        }
    }

    @Test(.enabled(if: World.isClear)) func aRemovedAccountRestoredByAHostStays() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...4))
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.identity.removeAccount(World.alice, now: world.now) == .removed(at: world.now))
        try await DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE active_identity SET activeDid = ?", arguments: [World.alice.rawValue])
        }
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(10)).settings == 0)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(40)).settings == 0)
    }

    /// The streams are deleted although the transaction failed after its commit.
    @Test func aDeletedAccountStartsAgainEvenIfItsDeletionFailed() async throws {
        let countdown = Mutex<Int?>(nil)
        var options = world.options()
        options.interrupt = { (operation, moment) throws(StoreError) in
            guard operation == .retention, moment == .ended else { return }
            let isLast = countdown.withLock { count in
                count = count.map { $0 - 1 }
                return count == 0
            }
            if isLast { throw .io(detail: "late") }
        }
        let store = try Store(options)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...4))
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.identity.removeAccount(World.alice, now: world.now) == .removed(at: world.now))
        var hasFailed = true
        var access = 0
        while hasFailed {
            access += 1
            countdown.withLock { $0 = access }
            hasFailed = (try? await store.retention.apply(RetentionPolicy(), now: world.now + .days(40))) == nil
        }
        countdown.withLock { $0 = nil }
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...4))
        #expect(try await world.integrityCheck().isEmpty)
    }

    /// The tables that mention an account.
    private func mentions(of account: DID) throws -> [String] {
        try DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            let tables = try String.fetchAll(
                db,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            return try tables.filter { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table)").contains { row in
                    row.databaseValues.contains { ($0.storage.value as? String)?.contains(account.rawValue) ?? false }
                }
            }
        }
    }

    @Test func aReturningIdentityStartsAgain() async throws {
        let store = try await world.open()
        let state = try await store.polls.state(world.stream, maxUndelivered: 10)
        #expect(
            try await store.polls.finishBootstrap(
                world.stream,
                generation: state.generation,
                top: world.id(1),
                now: world.now
            )
        )
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let after = try await store.polls.state(world.stream, maxUndelivered: 10)
        #expect(after.generation == 3)
        #expect(after.watermark == nil)
        #expect(after.fetchCursor == nil)
        #expect(!after.bootstrapped)
    }

    @Test func rowsCancelledWithAnIdentityAreAnnouncedOnItsReturn() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        _ = try #require(try await world.claim(store, limit: 1))
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now + .seconds(60))
        world.now = world.now + .seconds(60)
        let full = try #require(try await world.commit(store, world.changes(1...3), room: 2))
        #expect(full.refetched == 2 && full.inserted == 0 && full.outOfRoom)
        #expect(full.fetchCursor == world.id(2))
        let rest = try #require(try await world.commit(store, world.changes(3...3)))
        #expect(rest.refetched == 1)
        #expect(try await store.outboxCounts()[.pending] == 3)
        #expect(try await store.status.ledger(world.stream).cancelled == 0)
        #expect(try await store.status.snapshot([world.stream]).oldestPending == world.now)
        try await world.expectBalanced(store)
        #expect(try await world.claim(store, id: "ntf_2")?.outgoing.count == 3)
    }

    @Test func rowsThatASinkAcceptedAreNotAnnouncedAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let claimed = try #require(try await world.claim(store, sinks: ["fast", "slow"]))
        _ = try await store.deliveries.record(claimed.tickets[0], .ok, now: world.now, maxRetries: 3)
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let counts = try #require(try await world.commit(store, world.changes(1...1)))
        #expect(counts.reopened == 0 && counts.duplicates == 1)
    }

    @Test func rowsSkippedByTheBootstrapStayCancelled() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let state = try await store.polls.state(world.stream, maxUndelivered: 10)
        try await world.commit(store, [world.change(2)]) { $0.disposition = .bootstrap }
        #expect(
            try await store.polls.finishBootstrap(
                world.stream,
                generation: state.generation,
                top: world.id(2),
                now: world.now
            )
        )
        #expect(try await store.polls.state(world.stream, maxUndelivered: 10).known == [world.id(1), world.id(2)])
        let counts = try #require(try await world.commit(store, world.changes(2...3)))
        #expect(counts.reopened == 0 && counts.inserted == 1)
        try await world.expectBalanced(store)
    }

    @Test func theOverlapAnnouncesRowsThatWereCancelled() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let counts = try #require(try await world.commit(store, [world.change(1), world.change(3)]))
        #expect(counts.reopened == 2)
        #expect(try await store.polls.state(world.stream, maxUndelivered: 10).known == [world.id(1), world.id(3)])
    }

    @Test func discardedRowsStayDiscardedOnTheReturn() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        let claimed = try #require(try await world.claim(store))
        _ = try await store.deliveries.record(
            claimed.tickets[0],
            .rejected(nextAttemptAt: world.now),
            now: world.now,
            maxRetries: 0
        )
        let dead = try await store.outbox.ids(.dead, poll: nil, of: world.account)
        #expect(try await store.outbox.discard(dead, now: world.now, make: renewed) == 1)
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let counts = try #require(try await world.commit(store, world.changes(1...1)))
        #expect(counts.refetched == 0 && counts.duplicates == 1)
        #expect(try await store.outboxCounts()[.pending] == 0)
        try await world.expectBalanced(store)
    }

    @Test func sameIdentityIsNoChange() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let change = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(!change.changed)
        #expect(change.identity.generation == 1)
        #expect(try await store.outboxCounts()[.pending] == 2)
    }

    @Test func pollOfAFormerIdentityWritesNothing() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let page = PageCommit(
            stream: world.stream,
            expectedGeneration: generation,
            runID: "run",
            changes: world.changes(1...3).map { FetchedChange($0) },
            room: 10,
            now: world.now
        )
        #expect(try await store.outbox.commit(page: page) == nil)
        #expect(
            try await store.polls.finishBootstrap(
                world.stream,
                generation: generation,
                top: world.id(1),
                now: world.now
            )
                == false
        )
        #expect(try await store.status.ledger(world.stream) == Ledger())
        #expect(try await store.acknowledgements.watermark(world.stream) == nil)
    }

    @Test func signedOutStaysSignedOutAfterReopening() async throws {
        var store: Store? = try await world.open()
        _ = try await store!.identity.set(nil, server: World.server, now: world.now)
        await store?.close()
        store = nil
        store = try await world.open()
        let identity = try await store!.identity.active()
        #expect(identity.did == nil)
        #expect(identity.generation == 2)
        #expect(try await store!.polls.state(world.stream, maxUndelivered: 10).isActive == false)
    }

    @Test func configuredStarsAreStoredOnce() async throws {
        let store = try await world.open()
        #expect(
            try await store.stars.seedIfEmpty(["a", "b"], of: World.alice, server: World.server, now: world.now)
                == ["a", "b"]
        )
        _ = try await store.stars.set([], of: World.alice, server: World.server, now: world.now)
        #expect(
            try await store.stars.seedIfEmpty(["a"], of: World.alice, server: World.server, now: world.now).isEmpty
        )
    }

    @Test func starsKeepTheirOrderAndAreUnique() async throws {
        let store = try await world.open()
        _ = try await store.stars.add(["b", "a", "b"], of: World.alice, server: World.server, now: world.now)
        let added = try await store.stars.add(["c\"", "a"], of: World.alice, server: World.server, now: world.now)
        #expect(added == ["b", "a", "c\""])
        let removed = try await store.stars.remove(["a", "x"], of: World.alice, server: World.server, now: world.now)
        #expect(removed == ["b", "c\""])
    }

    @Test func unstarringSuppressesPendingRowsOnly() async throws {
        let store = try await world.open()
        _ = try await store.stars.set(["a", "b"], of: World.alice, server: World.server, now: world.now)
        try await world.commit(
            store,
            [world.change(1, plan: "a"), world.change(2, plan: "b"), world.change(3, plan: "a")]
        )
        _ = try await store.stars.remove(["a"], of: World.alice, server: World.server, now: world.now)
        #expect(try await store.outboxCounts()[.pending] == 1)
        #expect(try await store.status.ledger(world.stream).suppressed == 2)
        let batch = try await store.acknowledgements.nextBatch(world.stream, limit: 100, now: world.now) { "key" }
        #expect(batch?.ids == [world.id(1), world.id(3)])
        try await world.expectBalanced(store)
    }

    @Test func preferencesAreKept() async throws {
        let store = try await world.open()
        #expect(try await store.stars.interests(of: World.bob).preferences == "{}")
        try await store.identity.setNotificationPreferences(
            #"{"starredProjects":false}"#,
            of: World.bob,
            server: World.server,
            now: world.now
        )
        #expect(try await store.stars.interests(of: World.bob).preferences == #"{"starredProjects":false}"#)
    }
}

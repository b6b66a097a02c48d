import Foundation
import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// Damaged and old databases at opening, and stores that fail later.
@Suite struct DamageTests {
    let world = World()

    @Test func openingFindsADamagedPageAndLeavesTheFileUnchanged() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...500))
        await store.close()
        let file = try FileHandle(forUpdating: URL(filePath: world.path))
        try file.seek(toOffset: 4096 * (file.seekToEnd() / 8192))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let before = try Data(contentsOf: URL(filePath: world.path))
        let error = #expect(throws: StoreError.self) { try Store(world.options()) }
        #expect(error?.kind == .corrupt)
        #expect(error?.description.contains("\n") == false)
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
    }

    @Test func aDatabaseWithOnlyTheMigratorsTableIsNotForeign() async throws {
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        #expect(chmod(world.path, 0o600) == 0)
        let store = try await world.open()
        #expect(try await store.identity.active().did == World.alice)
    }

    @Test func aDatabaseWithMigrationsOfItsOwnIsForeignAndStaysUnchanged() async throws {
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('host1');
                    """
            )
        }
        #expect(chmod(world.path, 0o600) == 0)
        let before = try Data(contentsOf: URL(filePath: world.path))
        #expect(throws: StoreError.foreign) { try Store(world.options()) }
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
    }

    @Test func aCreationThatFailsAtItsEndLeavesNothing() async throws {
        try await DatabaseQueue(path: world.path).write { db in
            // The rows of this table are written last, and this one cannot take them.
            try db.execute(sql: "CREATE TABLE grdb_migrations (name TEXT)")
        }
        #expect(chmod(world.path, 0o600) == 0)
        let (before, bytes) = (try world.schema(), try Data(contentsOf: URL(filePath: world.path)))
        #expect(throws: StoreError.self) { try Store(world.options()) }
        #expect(try world.schema() == before)
        // Not even the journal mode, which is in the file's header.
        #expect(try Data(contentsOf: URL(filePath: world.path)) == bytes)
    }

    @Test func aSuccessfulProbeRestoresHealth() async throws {
        let store = try await world.open { $0.busyTimeout = .milliseconds(10) }
        #expect(store.health.failure == nil)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: world.path, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StoreError.busy) { try await world.commit(store, world.changes(1...3)) }
        #expect(store.health.failure == .busy)
        // Reading works all the time and proves nothing.
        _ = try await store.identity.active()
        await #expect(throws: StoreError.busy) { try await store.status.probe() }
        #expect(store.health.failure == .busy)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try await store.status.probe()
        #expect(store.health.failure == nil)
    }

    @Test func aProbeAfterAFailureReachesTheFile() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        store.health.failed(.full)
        let log = URL(filePath: world.path + "-wal")
        let before = try Data(contentsOf: log)
        let identity = try await store.identity.active()
        try await store.status.probe()
        #expect(store.health.failure == nil)
        #expect(try Data(contentsOf: log) != before)
        #expect(try await store.identity.active() == identity)
    }

    /// The older schema versions, each as a `sqlite3` dump of a used database.
    static let versions = Array(Schema.oldest..<Schema.supported.upperBound)

    @Test(.enabled(if: World.isClear), arguments: versions)
    func everyOlderVersionIsMigratedWithItsData(version: Int) async throws {
        let dump = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Dumps/version-\(version).sql")
        try await DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try db.execute(sql: String(contentsOf: dump, encoding: .utf8))
        }
        #expect(chmod(world.path, 0o600) == 0)
        let store = try await world.open()
        let did = try #require(try await store.identity.active().did)
        let server = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT server FROM streams")
        }
        let stream = StreamKey(account: did, server: try #require(server), poll: PollName("starred_projects")!)
        #expect(try await store.outboxCounts()[.pending] == 2)
        let ledger = try await store.status.ledger(stream)
        #expect(ledger.new == 5 && ledger.acknowledged == 3)
        #expect(try await store.status.ledgerTotals() == ledger)
        let snapshot = try await store.status.snapshot([])
        #expect(snapshot.fetchedImbalance == 0 && snapshot.newImbalance == 0)
        #expect(try await store.polls.state(stream, maxUndelivered: 1000).watermark != nil)
        #expect(try await world.integrityCheck().isEmpty)
        // The used rate limit: two requests.
        #expect(try await store.polls.requestWindow(of: did)?.starts(with: [2, 0, 0, 0, 0, 0, 0, 0]) == true)
        // The schema now equals that of a new database.
        let fresh = World()
        try await fresh.open().close()
        await store.close()
        #expect(try world.schema() == fresh.schema())
    }
}

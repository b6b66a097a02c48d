import Foundation
import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// After an unclean end, the pages are checked while the store works.
@Suite struct PageCheckTests {
    let world = World()

    /// Opens the database as the agent does. It has more pages than are checked at once.
    private func open(_ path: String? = nil) throws -> Store {
        var options = world.options()
        options.path = path ?? world.path
        options.checksLater = true
        options.pagesCheckedAtOnce = 0
        return try Store(options)
    }

    private func used() async throws -> Store {
        let store = try open()
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...500))
        return store
    }

    /// Copies the files of the database and its lock file, as they are now, to another folder.
    private func copied(without suffixes: Set<String> = []) throws -> String {
        let path = NSTemporaryDirectory.make() + "/starwatch.db"
        for suffix in ["", "-wal", ".lock"] where !suffixes.contains(suffix) {
            guard FileManager.default.fileExists(atPath: world.path + suffix) else { continue }
            try FileManager.default.copyItem(atPath: world.path + suffix, toPath: path + suffix)
        }
        return path
    }

    /// Overwrites the first pages of a table and of its indexes in a closed database.
    private func damage(_ table: String) throws {
        let queue = try DatabaseQueue(path: world.path)
        let roots = try queue.read { db in
            try Int.fetchAll(db, sql: "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", arguments: [table])
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(filePath: world.path))
        for root in roots {
            try file.seek(toOffset: UInt64((root - 1) * 4096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        }
        try file.close()
    }

    @Test func aDatabaseThatWasClosedIsNotCheckedAgain() async throws {
        try await used().close()
        let store = try open()
        #expect(store.status.pageCheckPhase == .unneeded)
    }

    @Test func aDatabaseThatWasNotClosedIsChecked() async throws {
        let store = try await used()
        #expect(try open(copied()).status.pageCheckPhase == .running)
        // With an empty log too, as after a checkpoint before the end.
        try await store.status.checkpoint()
        #expect(try open(copied(without: ["-wal"])).status.pageCheckPhase == .running)
    }

    /// A kill, or a power failure, leaves it so.
    @Test func theNoteOfTheLastEndIsGoneBeforeTheFirstWrite() async throws {
        try await used().close()
        let lock = URL(filePath: world.path + ".lock")
        #expect(try Data(contentsOf: lock).isEmpty == false)
        let store = try open()
        #expect(try Data(contentsOf: lock).isEmpty)
        await store.close()
        #expect(try Data(contentsOf: lock).isEmpty == false)
    }

    @Test func aRestoredCopyIsCheckedThoughTheOriginalWasClosed() async throws {
        try await used().close()
        #expect(try open(copied()).status.pageCheckPhase == .running)
    }

    @Test func aDatabaseThatAnotherProgramChangedIsChecked() async throws {
        try await used().close()
        let queue = try DatabaseQueue(path: world.path)
        try await queue.write { try $0.execute(sql: "UPDATE active_identity SET generation = generation + 1") }
        try queue.close()
        #expect(try open().status.pageCheckPhase == .running)
    }

    @Test func afterACheckWithoutDamageTheNextStartNeedsNone() async throws {
        try await used().close()
        #expect(chmod(world.path, 0o400) == 0 && chmod(world.path, 0o600) == 0)
        let store = try open()
        #expect(store.status.pageCheckPhase == .running)
        try await store.status.checkPages()
        #expect(store.status.pageCheckPhase == .passed)
        await store.close()
        #expect(try open().status.pageCheckPhase == .unneeded)
    }

    @Test func withoutTheCheckTheNextStartNeedsIt() async throws {
        try await used().close()
        #expect(chmod(world.path, 0o400) == 0 && chmod(world.path, 0o600) == 0)
        try await open().close()
        #expect(try open().status.pageCheckPhase == .running)
    }

    @Test func workGoesOnWhileThePagesAreChecked() async throws {
        try await used().close()
        #expect(chmod(world.path, 0o400) == 0 && chmod(world.path, 0o600) == 0)
        let store = try open()
        async let check: Void = store.status.checkPages()
        try await world.commit(store, world.changes(501...600))
        // Emptying the log waits for no check, which begins again.
        try await store.status.checkpoint()
        try await check
        #expect(store.status.pageCheckPhase == .passed)
        #expect(try await store.outboxCounts()[.pending] == 600)
    }

    /// The growing tables are those whose pages are not read before the first write.
    @Test(arguments: ["history", "log_entries", "notification_outbox"])
    func damageThatIsFoundLateEndsAllWorkAndStopsTheNextStart(table: String) async throws {
        try await used().close()
        try damage(table)
        let store = try open()
        let error = try #require(await #expect(throws: StoreError.self) { try await store.status.checkPages() })
        #expect(error.kind == .corrupt)
        #expect(store.status.pageCheckPhase == .damaged)
        #expect(store.health.failure == .corrupt)
        await #expect(throws: error) { try await world.commit(store, world.changes(501...502)) }
        await #expect(throws: error) { try await store.status.probe() }
        await store.close()
        let before = try Data(contentsOf: URL(filePath: world.path))
        let next = #expect(throws: StoreError.self) { try open() }
        #expect(next?.kind == .corrupt)
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
    }

    @Test(arguments: ["watermarks", "streams", "settings", "signing_keys"])
    func damageOfATableThatDecidesIsFoundBeforeTheFirstWrite(table: String) async throws {
        try await used().close()
        try damage(table)
        let before = try Data(contentsOf: URL(filePath: world.path))
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.kind == .corrupt)
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
    }

    @Test func aSmallDatabaseIsCheckedBeforeItsFirstWrite() async throws {
        try await used().close()
        try damage("history")
        let error = #expect(throws: StoreError.self) {
            var options = world.options()
            options.checksLater = true
            return try Store(options)
        }
        #expect(error?.kind == .corrupt)
    }

    @Test(.enabled(if: World.isClear)) func anOlderSchemaIsCheckedWhollyBeforeItIsMigrated() async throws {
        try await used().close()
        try damage("history")
        let queue = try DatabaseQueue(path: world.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(Schema.oldest)") }
        try queue.close()
        let error = #expect(throws: StoreError.self) { try open() }
        #expect(error?.kind == .corrupt)
    }

    /// A host can end in any way without the agent's notice.
    @Test(.enabled(if: World.isClear)) func theDatabaseOfAHostIsAlwaysChecked() async throws {
        try await used().close()
        var options = world.options()
        options.owner = .host
        options.checksLater = true
        options.pagesCheckedAtOnce = 0
        #expect(try Store(options).status.pageCheckPhase == .running)
    }
}

import FoundationEssentials
import GRDB
import Glibc
import StarwatchCore
import Testing

@testable import StarwatchStore

@Suite struct OpeningTests {
    let world = World()

    @Test func aNewDatabaseIsIntactAndPrivateToItsOwner() async throws {
        let store = try await world.open()
        for suffix in ["", "-wal", ".lock"] {
            var info = stat()
            #expect(stat(world.path + suffix, &info) == 0)
            #expect(info.st_mode & 0o777 == 0o600, "\(suffix)")
        }
        #expect(try await world.integrityCheck().isEmpty)
        #expect(store.status.fileSizes()?.freeDisk ?? 0 > 0)
    }

    @Test func aSecondAgentIsRejectedUntilTheFirstCloses() async throws {
        var store: Store? = try await world.open()
        #expect(throws: StoreError.alreadyOpen) { try Store(world.options()) }
        _ = try await store?.identity.active()
        await store?.close()
        store = nil
        try await world.open().close()
    }

    @Test func aChildProcessDoesNotKeepTheLock() async throws {
        let store = try await world.open()
        let lock = world.path + ".lock"
        let descriptor = try #require(try openDescriptors().first { $0.path == lock }?.number)
        // Between fork and exec a child process holds every open file, as a duplicate descriptor does.
        let childs = dup(descriptor)
        defer { Glibc.close(childs) }
        await store.close()
        try await world.open().close()
    }

    /// The open files of this process.
    private func openDescriptors() throws -> [(number: Int32, path: String)] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            guard let number = Int32(name) else { return nil }
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("\(folder)/\(name)", &buffer, buffer.count)
            guard length > 0 else { return nil }
            return (number, String(decoding: buffer[..<length], as: UTF8.self))
        }
    }

    /// SQLite would make a temporary table of a longer list for every row.
    @Test func theStatesOfTheOutboxAreComparedOneByOne() async throws {
        let store = try await world.open()
        await store.close()
        try raw { db in
            let table = "SELECT sql FROM sqlite_schema WHERE name = 'notification_outbox'"
            let sql = try #require(try String.fetchOne(db, sql: table))
            #expect(!sql.contains("state IN"))
            #expect(sql.contains("NULL) = (state = 'pending' OR state = 'claimed' OR state = 'delivered')"))
            for state in ["new", ""] {
                #expect(throws: DatabaseError.self) {
                    try db.execute(
                        sql: """
                            INSERT INTO notification_outbox (stream_id, jwt_id, plan_id, state, run_id, created_at,
                                finished_at)
                            VALUES (1, '01J00000000000000000000000', 'p', ?, 'r', 1, 1)
                            """,
                        arguments: [state]
                    )
                }
            }
        }
    }

    @Test func aNewerVersionIsRejectedUnchanged() async throws {
        try await world.open().close()
        try raw { db in try db.execute(sql: "PRAGMA user_version = 99") }
        let error = #expect(throws: StoreError.version(found: 99, supported: Schema.supported)) {
            try Store(world.options())
        }
        #expect(error?.kind == .version)
        #expect(error?.description.contains("newer program") == true)
        try raw { db in
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
            #expect(version == 99)
        }
    }

    @Test(.enabled(if: World.isClear)) func hostOwnedDatabaseIsNeverMigrated() async throws {
        try raw { db in try db.execute(sql: "CREATE TABLE hosts (id INTEGER)") }
        var options = world.options()
        options.owner = .host
        #expect(throws: StoreError.version(found: 0, supported: Schema.supported)) { try Store(options) }
        try raw { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema")
            #expect(tables == ["hosts"])
        }
    }

    @Test(.enabled(if: World.isClear)) func hostOwnedDatabaseOfAKnownVersionOpens() async throws {
        try await world.open().close()
        let store = try await world.open { $0.owner = .host }
        #expect(try await store.identity.active().did == World.alice)
    }

    @Test func aForeignDatabaseIsRejected() throws {
        try raw { db in try db.execute(sql: "CREATE TABLE others (id INTEGER)") }
        #expect(chmod(world.path, 0o600) == 0)
        #expect(throws: StoreError.foreign) { try Store(world.options()) }
    }

    @Test func garbageIsReportedAsCorrupt() throws {
        try Data(repeating: 7, count: 8192).write(to: URL(filePath: world.path))
        #expect(chmod(world.path, 0o600) == 0)
        let error = #expect(throws: StoreError.self) { try Store(world.options()) }
        #expect(error?.kind == .corrupt)
    }

    @Test func aFileThatOthersCanReadIsRejected() async throws {
        try await world.open().close()
        #expect(chmod(world.path, 0o644) == 0)
        let error = #expect(throws: StoreError.self) { try Store(world.options()) }
        #expect(error?.kind == .io)
        #expect(error?.description.contains("chmod 600") == true)
    }

    @Test func missingDirectoryIsAnError() {
        let error = #expect(throws: StoreError.self) { try Store(StoreOptions(path: "/nonexistent/a/b.db")) }
        #expect(error?.kind == .io)
    }

    @Test func pragmasAreAsRequired() async throws {
        let store = try await world.open {
            $0.busyTimeout = .milliseconds(1234)
            $0.maxPages = 5000
        }
        let required: [(name: String, value: String)] = [
            ("journal_mode", "wal"), ("user_version", "\(Schema.supported.upperBound)"), ("foreign_keys", "1"),
            ("busy_timeout", "1234"),
            // NORMAL
            ("synchronous", "1"),
            ("secure_delete", "1"), ("cache_size", "-8000"),
            // MEMORY
            ("temp_store", "2"),
            ("max_page_count", "5000"), ("query_only", "0"),
        ]
        // On the store's own connection, because most of them belong to it and not to the file.
        for (name, value) in required {
            let found = try await store.direct(.read) { db in try db.value("PRAGMA \(name)") ?? SQLValue.null }
            #expect(found.text == value, "\(name)")
        }
    }

    /// What the seeds ask for, without any option.
    @Test func thePragmasOfTheSeedsAreTheDefaults() async throws {
        let store = try Store(world.options())
        for (name, value) in [
            ("journal_mode", "wal"), ("synchronous", "1"), ("busy_timeout", "5000"), ("foreign_keys", "1"),
        ] {
            let found = try await store.direct(.read) { db in try db.value("PRAGMA \(name)") ?? SQLValue.null }
            #expect(found.text == value, "\(name)")
        }
    }

    @Test func theInstallationSurvivesReopening() async throws {
        var store: Store? = try await world.open()
        let first = try await store?.identity.installation()
        await store?.close()
        store = nil
        store = try await world.open()
        let second = try await store?.identity.installation()
        #expect(first?.instanceID == second?.instanceID && first?.key == second?.key)
        #expect(first?.key.count == 32)
        #expect(first?.instanceID.count == 32)
    }

    @Test func anotherConnectionSeesRowsAtOnce() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try raw { db in
            let rows = try Int.fetchOne(db, sql: "SELECT count(*) FROM notification_outbox")
            #expect(rows == 3)
        }
    }

    @Test func transactionsAreTimedAndErrorsCounted() async throws {
        let witness = Witness()
        let store = try await world.open { $0.observer = witness }
        try await world.commit(store, world.changes(1...3))
        try await world.commit(store, world.changes(2...4))
        #expect(witness["commit"] == 2)
        #expect(witness["open"] == 1)
        #expect(witness["inserted"] == 4)
        #expect(witness["duplicate"] == 2)
    }

    @Test func anotherProcessesWriteLockMakesTheStoreBusy() async throws {
        let witness = Witness()
        let store = try await world.open {
            $0.busyTimeout = .milliseconds(20)
            $0.observer = witness
        }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: world.path, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StoreError.busy) { try await world.commit(store, world.changes(1...3)) }
        #expect(witness["busy"] == 1)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        #expect(try await world.commit(store, world.changes(1...3))?.inserted == 3)
    }

    @Test func fullDiskIsReportedAndLosesNothing() async throws {
        var store: Store? = try await world.open()
        try await world.commit(store!, world.changes(1...10))
        await store?.close()
        store = nil
        let pages = try raw { db in try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 }
        store = try await world.open { $0.maxPages = pages + 2 }
        let before = try await store!.status.ledger(world.stream)
        let error = await #expect(throws: StoreError.self) {
            try await world.commit(store!, world.changes(11...2000), room: 5000)
        }
        #expect(error == .full)
        #expect(error?.description.contains("free space") == true)
        #expect(try await store!.status.ledger(world.stream) == before)
        #expect(try await store!.outboxCounts()[.pending] == 10)
        await store?.close()
        store = nil
        store = try await world.open()
        #expect(try await world.commit(store!, world.changes(11...2000), room: 5000)?.inserted == 1990)
        try await world.expectBalanced(store!)
        #expect(try await world.integrityCheck().isEmpty)
    }

    @Test(arguments: StoreErrorKind.allCases)
    func everyErrorHasAKindAndADescription(_ kind: StoreErrorKind) {
        let errors: [StoreError] = [
            .busy, .alreadyOpen, .full, .corrupt(detail: "d"), .io(detail: "d"),
            .version(found: 0, supported: Schema.supported), .foreign, .leaseLost,
        ]
        #expect(errors.contains { $0.kind == kind && !$0.description.isEmpty })
    }

    @discardableResult
    private func raw<T>(_ body: (Database) throws -> T) throws -> T {
        try DatabaseQueue(path: world.path).writeWithoutTransaction(body)
    }

    /// Otherwise a power loss after the next start would lose what the crash left in the log, such as the start of a
    /// stream.
    @Test(.enabled(if: World.isClear)) func theNextStartMovesTheLogOfACrashIntoTheDatabase() async throws {
        let crashed = try await world.open()
        try await world.commit(crashed, world.changes(1...3))
        let copy = world.directory + "/copy.db"
        for suffix in ["", "-wal"] {
            let bytes = try Data(contentsOf: URL(filePath: world.path + suffix))
            try bytes.write(to: URL(filePath: copy + suffix))
            chmod(copy + suffix, 0o600)
        }
        let next = try Store(StoreOptions(path: copy))
        let left = world.directory + "/left.db"
        try Data(contentsOf: URL(filePath: copy)).write(to: URL(filePath: left))
        chmod(left, 0o600)
        #expect(try await Store(StoreOptions(path: left)).status.ledger(world.stream).fetched == 3)
        await next.close()
        await crashed.close()
    }
}

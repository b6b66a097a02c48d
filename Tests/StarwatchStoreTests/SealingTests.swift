import FoundationEssentials
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Encrypted databases.
struct SealingTests {
    let world = World()
    let master = MasterKey()

    private func options(_ key: MasterKey?) -> StoreOptions {
        var options = world.options()
        options.masterKey = key
        return options
    }

    /// Opens a store with `alice` signed in.
    private func open(_ key: MasterKey?) async throws -> Store {
        let store = try Store(options(key))
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        return store
    }

    // MARK: - The right master key

    @Test func anEncryptedDatabaseIsRefusedWithoutItsKeyAndStaysUntouched() async throws {
        let store = try await open(master)
        try await world.fill(store)
        await store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: world.path))
        #expect(throws: StoreError.sealed(.noMasterKey)) { try Store(options(nil)) }
        let other = MasterKey()
        #expect(throws: StoreError.sealed(.otherMasterKey(found: master.id, given: other.id))) {
            try Store(options(other))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: world.path)) == before)
        try await Store(options(master)).close()
    }

    @Test func aClearDatabaseWithDataIsNotUsedWithAMasterKey() async throws {
        let store = try await open(nil)
        await store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: world.path))
        #expect(throws: StoreError.sealed(.notEncrypted)) { try Store(options(master)) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: world.path)) == before)
    }

    // MARK: - A host's database

    /// The host's key encrypts Starwatch's values, and the host's own tables are none of its business.
    @Test(arguments: [true, false])
    func aHostsDatabaseIsSealedAndItsOwnTablesStayUsable(isNew: Bool) async throws {
        let host = try DatabaseQueue(path: world.path)
        try await host.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE hosts (id INTEGER PRIMARY KEY, text TEXT)")
            try db.execute(sql: Schema.statements(from: 0)!)
            try db.execute(sql: "INSERT INTO hosts VALUES (7, 'the host''s own')")
        }
        var options = options(isNew ? master : nil)
        options.owner = .host
        var store = try Store(options)
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        try await world.fill(store)
        // The host writes beside the agent.
        try await host.write { db in try db.execute(sql: "UPDATE hosts SET text = text || '!' WHERE id = 7") }
        let before = try await Contents(store, world)
        if !isNew {
            #expect(try world.canaries() == Set(Canary.all))
            await store.close()
            try host.close()
            store = try Store(options)
            #expect(try await store.keys.encrypt(with: master) > 10)
        }
        #expect(try world.canaries().isEmpty)
        await store.close()
        let other = MasterKey()
        options.masterKey = other
        #expect(throws: StoreError.sealed(.otherMasterKey(found: master.id, given: other.id))) { try Store(options) }
        options.masterKey = nil
        #expect(throws: StoreError.sealed(.noMasterKey)) { try Store(options) }
        options.masterKey = master
        store = try Store(options)
        #expect(try await Contents(store, world) == before)
        try await #expect(store.keys.verify().failed == 0)
        await store.close()
        let text = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT text FROM hosts WHERE id = 7")
        }
        #expect(text == "the host's own!")
        #expect(try await world.integrityCheck().isEmpty)
    }

    // MARK: - What the file holds

    @Test func nothingReadableOfAPersonIsInAnEncryptedDatabase() async throws {
        let store = try await open(master)
        try await world.fill(store)
        #expect(try world.canaries().isEmpty)
        await store.close()
        #expect(try world.canaries().isEmpty)
    }

    /// The search finds what it looks for.
    @Test func aClearDatabaseHoldsEveryCanary() async throws {
        let store = try await open(nil)
        try await world.fill(store)
        await store.close()
        #expect(try world.canaries() == Set(Canary.all))
    }

    @Test func anEncryptedDatabaseAnswersLikeAClearOne() async throws {
        let (clear, sealed) = (World(), World())
        var answers: [Contents] = []
        for (world, key) in [(clear, nil), (sealed, master)] {
            var options = world.options()
            options.masterKey = key
            var store = try Store(options)
            _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
            try await world.fill(store)
            await store.close()
            store = try Store(options)
            answers.append(try await Contents(store, world))
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0].rows.count == 4)
    }

    /// Former versions did not seal it.
    @Test func aClearETagOfAFormerVersionStaysReadableAndIsSealedWithTheNextKeys() async throws {
        var store = try await open(master)
        try await world.fill(store)
        let before = try await Contents(store, world)
        #expect(before.etag == "\"\(Canary.etag)\"")
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE notif_contents SET etag = ?", arguments: [before.etag])
        }
        #expect(try world.canaries() == [Canary.etag])
        store = try Store(options(master))
        #expect(try await Contents(store, world) == before)
        try await #expect(store.keys.verify().failed == 0)
        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal(limit: 500).isFinished {}
        await store.close()
        #expect(try world.canaries().isEmpty)
        store = try Store(options(master))
        #expect(try await Contents(store, world) == before)
        #expect(try await store.keys.decrypt().lost.isEmpty)
    }

    // MARK: - Conversion

    @Test func anExistingDatabaseIsEncryptedWithoutLossAndWithoutRemains() async throws {
        var store = try await open(nil)
        try await world.fill(store)
        let before = try await Contents(store, world)
        let installation = try await store.identity.installation()
        #expect(try await store.keys.encrypt(with: master) > 10)
        #expect(try world.canaries().isEmpty)
        await store.close()
        #expect(try world.canaries().isEmpty)
        store = try Store(options(master))
        #expect(try await Contents(store, world) == before)
        #expect(try await store.identity.installation() == installation)
        try await #expect(store.keys.verify().failed == 0)
        #expect(try await world.integrityCheck().isEmpty)
    }

    @Test func aDecryptedDatabaseIsTheFormerOne() async throws {
        var store = try await open(master)
        try await world.fill(store)
        var before = try await Contents(store, world)
        let installation = try await store.identity.installation()
        _ = try await store.keys.decrypt()
        await store.close()
        store = try Store(options(nil))
        // Their tokens were stored only as keyed hashes.
        before.targets = nil
        #expect(try await Contents(store, world) == before)
        #expect(try await store.identity.installation() == installation)
        #expect(try await world.integrityCheck().isEmpty)
    }

    @Test func aFailedEncryptionLeavesTheClearDatabase() async throws {
        var options = options(nil)
        let failure = Failure()
        options.interrupt = { operation, moment throws(StoreError) in
            if operation == .edit, moment == .begun, failure.isDue { throw .full }
        }
        let store = try Store(options)
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        try await world.fill(store)
        let before = try await Contents(store, world)
        failure.isDue = true
        await #expect(throws: StoreError.full) { try await store.keys.encrypt(with: master) }
        failure.isDue = false
        #expect(try await Contents(store, world) == before)
        #expect(try await store.keys.encrypt(with: master) > 10)
        #expect(try await Contents(store, world) == before)
    }

    /// A process that is killed between the encryption and the rewriting of the file.
    @Test func theNextStartRewritesTheFileOfAnInterruptedEncryption() async throws {
        let store = try await open(master)
        try await world.fill(store)
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE sealing SET state = 'cleaning'")
            // What an interrupted encryption leaves in free pages.
            try db.execute(sql: "CREATE TABLE remains (text TEXT)")
            try db.execute(sql: "PRAGMA secure_delete = OFF")
            try db.execute(sql: "INSERT INTO remains VALUES (?)", arguments: [Canary.name + "0"])
            try db.execute(sql: "DELETE FROM remains")
        }
        #expect(try !world.canaries().isEmpty)
        try await Store(options(master)).close()
        #expect(try world.canaries().isEmpty)
    }

    // MARK: - Keys

    @Test func aNewMasterKeyReplacesTheFormerOne() async throws {
        var store = try await open(master)
        try await world.fill(store)
        let before = try await Contents(store, world)
        let next = MasterKey()
        try await store.keys.changeMasterKey(to: next)
        #expect(try await store.keys.report().masterKey == next.id)
        #expect(try await Contents(store, world) == before)
        await store.close()
        #expect(throws: StoreError.sealed(.otherMasterKey(found: next.id, given: master.id))) {
            try Store(options(master))
        }
        store = try Store(options(next))
        #expect(try await Contents(store, world) == before)
    }

    /// The former key is destroyed next.
    @Test func aPowerLossCannotUndoANewMasterKey() async throws {
        let store = try await open(master)
        let statements = try await Recorded.statements(of: store) {
            try await store.keys.changeMasterKey(to: MasterKey())
        }
        let steps = statements.compactMap { sql in
            ["PRAGMA synchronous = FULL", "BEGIN", "COMMIT", "PRAGMA synchronous = NORMAL"].first { sql.hasPrefix($0) }
        }
        #expect(steps == ["PRAGMA synchronous = FULL", "BEGIN", "COMMIT", "PRAGMA synchronous = NORMAL"])
        await store.close()
    }

    @Test(arguments: [1, 3, 500])
    func dataKeysAreReplacedInSteps(limit: Int) async throws {
        let store = try await open(master)
        try await world.fill(store)
        let before = try await Contents(store, world)
        let former = Set(try await store.keys.report().dataKeys.map(\.id))
        #expect(try await store.keys.replaceDataKeys() == former.count)
        var last = 0.0
        var step = try await store.keys.reseal(limit: limit)
        while !step.isFinished {
            #expect(step.progress >= last)
            last = step.progress
            #expect(try await Contents(store, world) == before)
            step = try await store.keys.reseal(limit: limit)
        }
        let now = try await store.keys.report().dataKeys
        #expect(now.allSatisfy { $0.isActive })
        #expect(former.isDisjoint(with: now.map(\.id)))
        #expect(try await Contents(store, world) == before)
        try await #expect(store.keys.verify().failed == 0)
    }

    @Test func replacingDataKeysEndsAlsoIfEachStepIsMadeTwice() async throws {
        var options = options(master)
        options.rehearses = true
        let store = try Store(options)
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        try await world.fill(store)
        let former = Set(try await store.keys.report().dataKeys.map(\.id))
        _ = try await store.keys.replaceDataKeys()
        // More steps than there are tables and rows.
        for _ in 0..<1000 { if try await store.keys.reseal(limit: 2).isFinished { break } }
        #expect(former.isDisjoint(with: try await store.keys.report().dataKeys.map(\.id)))
    }

    @Test func replacingDataKeysGoesOnAfterARestart() async throws {
        var store = try await open(master)
        try await world.fill(store)
        let before = try await Contents(store, world)
        let former = Set(try await store.keys.report().dataKeys.map(\.id))
        _ = try await store.keys.replaceDataKeys()
        for _ in 0..<3 { _ = try await store.keys.reseal(limit: 2) }
        await store.close()
        store = try Store(options(master))
        #expect(try await Contents(store, world) == before)
        while try await !store.keys.reseal(limit: 2).isFinished {}
        #expect(former.isDisjoint(with: try await store.keys.report().dataKeys.map(\.id)))
        #expect(try await Contents(store, world) == before)
        await store.close()
        store = try Store(options(master))
        #expect(try await Contents(store, world) == before)
    }

    @Test func aKeyIsReplacedBeforeItsNoncesCouldRepeat() async throws {
        var store = try await open(master)
        let former = Set(try await store.keys.report().dataKeys.map(\.id))
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE data_keys SET uses = ?", arguments: [DataKeyRows.largestUse - 1])
        }
        store = try Store(options(master))
        try await world.fill(store)
        let keys = try await store.keys.report().dataKeys
        #expect(keys.contains { former.contains($0.id) && !$0.isActive })
        #expect(keys.contains { !former.contains($0.id) && $0.isActive })
        while try await !store.keys.reseal().isFinished {}
        #expect(former.isDisjoint(with: try await store.keys.report().dataKeys.map(\.id)))
    }

    @Test func theUsesOfAKeyAreNeverCountedTooLow() async throws {
        var store = try await open(master)
        try await world.fill(store)
        let first = try await store.keys.report().dataKeys.map(\.uses)
        #expect(first.allSatisfy { $0 == 1024 })
        await store.close()
        store = try Store(options(master))
        _ = try await store.stars.add(["another"], of: World.alice, server: World.server, now: world.now)
        #expect(try await store.keys.report().dataKeys.map(\.uses).max() == 2 * 1024)
    }

    // MARK: - Tampering

    @Test func aValueThatWasMovedOrChangedDoesNotOpen() async throws {
        let edits = [
            "UPDATE notification_outbox SET name = (SELECT name FROM notification_outbox ORDER BY id LIMIT 1)",
            "UPDATE notification_outbox SET name = plan_id",
            "UPDATE notification_outbox SET name = '\"sw2.AAAAAAAAAB' || substr(name, 16)",
            "UPDATE notification_outbox SET name = '\"sw1.' || substr(name, 6)",
            "UPDATE notification_outbox SET name = substr(name, 1, length(name) - 9) || 'AAAAAAA=\"'",
            "UPDATE notification_outbox SET name = 'clear'",
        ]
        for edit in edits {
            let world = World()
            var options = world.options()
            options.masterKey = master
            var store = try Store(options)
            _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
            try await world.fill(store)
            await store.close()
            try await DatabaseQueue(path: world.path).write { db in try db.execute(sql: edit) }
            store = try Store(options)
            let names = try await store.outbox.list(OutboxFilter()).map(\.change.name)
            #expect(names.count { $0 == "(unreadable)" } >= 3, "\(edit)")
            let report = try await store.keys.verify()
            #expect(report.failed >= 3, "\(edit)")
            #expect(report.faults.allSatisfy { $0.column == "notification_outbox.name" }, "\(edit)")
        }
    }

    @Test func aDamagedValueKeepsItsKeyAndHoldsUpNoRotation() async throws {
        let store = try await open(master)
        try await world.fill(store)
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE notifications SET body = substr(body, 1, length(body) - 9) || 'AAAAAAA=\"'")
        }
        let former = Set(try await store.keys.report().dataKeys.map(\.id))
        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal(limit: 2).isFinished {}
        let retiring = try await store.keys.report().dataKeys.filter { !$0.isActive }
        #expect(retiring.count == 1 && former.isSuperset(of: retiring.map(\.id)))
        #expect(try await store.keys.reseal().rows == 0)
        #expect(try await store.keys.verify().faults.map(\.column) == ["notifications.body"])
    }

    @Test func anAccountWithoutItsIdentityIsFoundAndHarmsNoOther() async throws {
        var store = try await open(master)
        try await world.fill(store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(
                sql: "DELETE FROM sealed_accounts WHERE account <> (SELECT activeDid FROM active_identity)"
            )
        }
        store = try Store(options(master))
        #expect(try await store.identity.active().did == World.bob)
        #expect(try await store.keys.verify().faults.contains { $0.column == "streams.account" })
    }

    @Test func anotherServerResetsTheMirrorOfTheWatermark() async throws {
        let store = try await open(master)
        try await world.fill(store)
        _ = try await store.identity.seedIfEmpty(World.alice, server: "https://other.example", now: world.now)
        let servers = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchAll(db, sql: "SELECT apiServer FROM settings")
        }
        #expect(servers == ["https://other.example"])
    }

    @Test func aKeyOfAnotherAccountDoesNotOpenTheDatabase() async throws {
        let store = try await open(master)
        try await world.fill(store)
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE data_keys SET account = NULL WHERE purpose = 'data'")
        }
        let again = try Store(options(master))
        await #expect(throws: StoreError.sealed(.damaged)) { try await again.identity.active() }
        #expect(try await again.keys.verify().failed > 0)
    }

    /// A program that reads the database keeps the former pages in the log.
    @Test func aReaderKeepsAnEncryptionAndAnErasureFromBeingComplete() async throws {
        var options = options(nil)
        options.busyTimeout = .milliseconds(1)
        var store = try Store(options)
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        try await world.fill(store)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: world.path, configuration: configuration)
        try await reader.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; SELECT * FROM settings")
        }
        await #expect(throws: StoreError.sealed(.notCleaned)) { try await store.keys.encrypt(with: master) }
        #expect(try !world.canaries().isEmpty)
        await store.close()
        try reader.close()
        store = try Store(self.options(master))
        #expect(try world.canaries().isEmpty)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        await store.close()
        options.masterKey = master
        store = try Store(options)
        let other = try DatabaseQueue(path: world.path, configuration: configuration)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; SELECT * FROM settings")
        }
        #expect(try await store.identity.eraseAccount(World.alice) == .erased(isPurged: false))
        try other.close()
    }

    // MARK: - Erasing

    @Test(arguments: [true, false])
    func anErasedIdentityLeavesNothing(isEncrypted: Bool) async throws {
        let store = try await open(isEncrypted ? master : nil)
        try await world.fill(store)
        #expect(try await store.identity.eraseAccount(World.alice) == .active)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        let keys = try await store.keys.report().dataKeys
        #expect(try await store.identity.eraseAccount(World.alice) == .erased(isPurged: true))
        #expect(try await store.identity.eraseAccount(World.alice) == .unknown)
        #expect(try world.canaries().isEmpty)
        let left = try await store.keys.report().dataKeys
        #expect(left.allSatisfy { $0.account != World.alice })
        #expect(keys.isEmpty || left.count < keys.count)
        #expect(try await store.stars.list(of: World.alice).isEmpty)
        await store.close()
        #expect(try world.canaries().isEmpty)
    }

    // MARK: - The file of the master key

    @Test func aMasterKeyFileHolds32BytesInBase64() throws {
        let key = MasterKey()
        #expect(MasterKey(text: Array(key.text.utf8))?.id == key.id)
        #expect(MasterKey(text: Array(key.text.dropLast().utf8))?.id == key.id)
        let digits = String(key.text.dropLast())
        for wrong in [
            "", "x", digits + "A", String(digits.dropLast()), digits + "\n\nmore", " " + digits,
            String(repeating: "A", count: 64),
        ] {
            #expect(MasterKey(text: Array(wrong.utf8)) == nil)
        }
        #expect(!"\(key) \(String(reflecting: key))".contains(digits))
        var dump = ""
        Swift.dump(key, to: &dump)
        #expect(!dump.contains(digits))
    }
}

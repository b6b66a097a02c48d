import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// An upgrade keeps a copy of the database, with which a former program can go on.
@Suite(.enabled(if: World.isClear)) struct UpgradeCopyTests {
    let world = World()
    private let newest = Schema.supported.upperBound
    private var copy: String { "\(world.path).before-\(newest)" }
    private var files: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: world.directory)
        return (names ?? []).filter { $0.contains("before-") }
    }

    /// Writes a database of a former version.
    private func write(version: Int) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Dumps/version-\(version).sql")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: world.path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: String(contentsOf: file, encoding: .utf8)) }
        try queue.close()
        #expect(chmod(world.path, 0o600) == 0)
    }

    /// Every row of every table.
    private func rows(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { db in
            let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            return try ["\(version)"]
                + String.fetchAll(db, sql: tables).flatMap { table in
                    try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { "\(table) \($0)" }
                }
        }
    }

    private func options() -> StoreOptions {
        var options = world.options()
        let now = world.now
        options.now = { now }
        return options
    }

    @Test(arguments: Schema.oldest..<Schema.supported.upperBound)
    func theCopyIsTheDatabaseFromBeforeTheUpgradeWithItsMode(version: Int) async throws {
        try write(version: version)
        let before = try rows(world.path)
        await (try Store(options())).close()
        #expect(try rows(world.path).first == "\(newest)")
        #expect(files == ["starwatch.db.before-\(newest)"])
        var info = stat()
        #expect(stat(copy, &info) == 0 && info.st_mode & 0o777 == 0o600)
        #expect(try rows(copy) == before)
        // What the former program did not upgrade, this one can: after a restored copy it starts again.
        try FileManager.default.removeItem(atPath: world.path)
        try FileManager.default.moveItem(atPath: copy, toPath: world.path)
        await (try Store(options())).close()
        #expect(files == ["starwatch.db.before-\(newest)"])
    }

    @Test func aDatabaseOfThisVersionIsNotCopied() async throws {
        try await world.open().close()
        try await world.open().close()
        #expect(files.isEmpty)
    }

    @Test func retentionDeletesACopyAfterItsTimeAndNotBefore() async throws {
        try write(version: Schema.oldest)
        let store = try Store(options())
        for (age, isKept) in [(Duration.days(7) - .seconds(1), true), (.days(7), false)] {
            _ = try await store.retention.apply(RetentionPolicy(), now: world.now + age)
            #expect(files.isEmpty != isKept, "after \(age)")
        }
    }

    @Test func aClockThatNobodyConfirmedDeletesNoCopy() async throws {
        try write(version: Schema.oldest)
        let store = try Store(options())
        var policy = RetentionPolicy()
        policy.spareWhatIsIrreplaceable()
        _ = try await store.retention.apply(policy, now: world.now + .days(3650))
        #expect(files.count == 1)
    }

    @Test func zeroMakesNoCopy() async throws {
        try write(version: Schema.oldest)
        var options = options()
        options.keepBeforeUpgrade = .zero
        await (try Store(options)).close()
        #expect(files.isEmpty)
    }

    @Test(arguments: [(100, 100, UpgradeCopy.reserve), (100, 0, 100 + UpgradeCopy.reserve), (1, 100 << 20, 0)])
    func aCopyNeedsItsSizeAndAReserve(needed: Int, free: Int, missing: Int) {
        #expect(UpgradeCopy.missing(for: needed, free: free) == missing)
    }

    @Test func aRefusedUpgradeSaysHowMuchMustBecomeFree() {
        let text = StoreError.noRoomForCopy(version: 9, bytes: 12_000_001).description
        #expect(text.contains("free 13 MB") && text.contains("storage.keep_before_upgrade"))
        #expect(!text.contains(". "))
    }

    @Test func aCopyThatCannotBeWrittenLeavesTheDatabaseAsItWas() throws {
        try write(version: Schema.oldest)
        // A folder in its place cannot be replaced.
        try FileManager.default.createDirectory(atPath: copy + "/x", withIntermediateDirectories: true)
        let before = try rows(world.path)
        #expect(throws: StoreError.self) { try Store(options()) }
        #expect(try rows(world.path) == before)
        #expect(files == ["starwatch.db.before-\(newest)"])
    }

    @Test func anUpgradeThatWasInterruptedKeepsTheCopyFromBeforeItsFirstStep() async throws {
        try write(version: Schema.oldest)
        await (try Store(options())).close()
        // The version of the former program; the database is of a step between the two.
        try await DatabaseQueue(path: copy).writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 8") }
        let first = try rows(copy)
        try FileManager.default.removeItem(atPath: world.path)
        try write(version: Schema.oldest)
        await (try Store(options())).close()
        #expect(try rows(copy) == first)
    }

    @Test func whatAKilledCopyLeftIsReplaced() async throws {
        try write(version: Schema.oldest)
        let before = try rows(world.path)
        try Data(repeating: 7, count: 9000).write(to: URL(filePath: copy + ".partial"))
        await (try Store(options())).close()
        #expect(files == ["starwatch.db.before-\(newest)"])
        #expect(try rows(copy) == before)
    }

    @Test func theNextStartDeletesWhatAKilledCopyLeftAlsoWithoutAnUpgrade() async throws {
        try await world.open().close()
        try Data(repeating: 7, count: 9000).write(to: URL(filePath: copy + ".partial"))
        await (try Store(options())).close()
        #expect(files.isEmpty)
    }

    @Test func aCopyThatCannotBeDeletedIsNamed() async throws {
        try write(version: Schema.oldest)
        await (try Store(options())).close()
        let partial = "starwatch.db.before-8.partial"
        try Data([7]).write(to: URL(filePath: "\(world.directory)/\(partial)"))
        var copies = UpgradeCopy(path: world.path)
        copies.delete = { !$0.hasSuffix(".partial") && unlink($0) == 0 }
        #expect(copies.removeAll() == partial)
        #expect(files == [partial])
        #expect(UpgradeCopy(path: world.path).removeAll() == nil)
        #expect(files.isEmpty)
    }

    @Test func theRefusalOfANewerDatabaseNamesTheNewestCopyThatThisProgramOpens() async throws {
        try await world.open().close()
        let queue = try DatabaseQueue(path: world.path)
        try await queue.vacuum(into: "\(world.path).before-98")
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 98") }
        // Newer, but not for this program.
        try await queue.vacuum(into: "\(world.path).before-99")
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
        try queue.close()
        for (seconds, version) in [(1000, 98), (2000, 99)] {
            let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: Double(seconds))]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(world.path).before-\(version)")
        }
        let error = #expect(throws: StoreError.self) { try Store(world.options()) }
        let named = StoreError.version(found: 99, supported: Schema.supported, copy: "starwatch.db.before-98")
        #expect(error == named)
        #expect(error?.description.contains("restore starwatch.db.before-98") == true)
    }

    @Test func anErasedIdentityIsAlsoErasedFromCopies() async throws {
        try write(version: Schema.oldest)
        let store = try Store(options())
        try Data(repeating: 7, count: 9000).write(to: URL(filePath: copy + ".partial"))
        #expect(files.count == 2)
        let did = try #require(try await store.identity.active().did)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.eraseAccount(did)
        #expect(files.isEmpty)
    }

    @Test func encryptingADatabaseDeletesItsCopiesInClear() async throws {
        try write(version: Schema.oldest)
        let store = try Store(options())
        #expect(files.count == 1)
        _ = try await store.keys.encrypt(with: MasterKey())
        #expect(files.isEmpty)
    }
}

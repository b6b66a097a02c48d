import Foundation
import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// A database owned by a host application: created by the printed statements, and never migrated by the agent.
@Suite struct HostDatabaseTests {
    let world = World()

    @Test(.enabled(if: World.isClear), arguments: [0] + Array(Schema.oldest..<Schema.supported.upperBound))
    func thePrintedStatementsCreateTheAgentsSchema(version: Int) async throws {
        if version > 0 {
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
            try run(String(contentsOf: folder.appending(path: "Dumps/version-\(version).sql"), encoding: .utf8))
        }
        try run(try #require(Schema.statements(from: version)))
        let fresh = World()
        try await fresh.open().close()
        #expect(try world.schema() == fresh.schema())
        let store = try await world.open { $0.owner = .host }
        #expect(try await store.identity.active().did != nil)
        #expect(try await store.identity.installation().instanceID.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(try await world.integrityCheck().isEmpty)
        try await world.commit(store, world.changes(1...3))
        await store.close()
        // The owner can hand the database over.
        #expect(chmod(world.path, 0o600) == 0)
        let handed = try await world.open()
        // The used database has rows and an identity of its own.
        #expect(try await handed.outboxCounts()[.pending] == (version > 0 ? 2 : 3))
    }

    /// Databases of this version exist, so that another text needs another version with a migration.
    @Test func thePrintedSchemaIsTheReleasedOne() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "Dumps/schema-\(Schema.supported.upperBound).sql")
        #expect(try Schema.statements(from: 0) == String(contentsOf: file, encoding: .utf8))
    }

    @Test func theNewestVersionNeedsNoStatementsAndALaterOneHasNone() {
        #expect(Schema.statements(from: Schema.supported.upperBound) == "")
        #expect(Schema.statements(from: Schema.supported.upperBound + 1) == nil)
        #expect(Schema.statements(from: Schema.oldest - 1) == nil && Schema.statements(from: -1) == nil)
    }

    @Test func statementsThatFailHalfwayChangeNothing() throws {
        try run("CREATE TABLE installation (x)")
        #expect(throws: DatabaseError.self) { try run(Schema.statements(from: 0)!) }
        #expect(try world.schema() == ["CREATETABLEinstallation(x)", "0"])
    }

    @Test(.enabled(if: World.isClear), arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11])
    func anUnknownVersionIsRejectedWithAdviceAndWithoutWriting(
        version: Int
    ) throws {
        try run("CREATE TABLE hosts (id INTEGER); PRAGMA user_version = \(version)")
        let before = try Data(contentsOf: URL(filePath: world.path))
        var options = world.options()
        options.owner = .host
        let error = #expect(throws: StoreError.self) { try Store(options) }
        #expect(error?.kind == .version)
        let advice =
            switch version {
            case 1..<Schema.oldest: "move it away"
            case ...Schema.supported.upperBound: "schema --from \(version)"
            default: "install the newer program"
            }
        #expect(error?.description.contains(advice) == true)
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
    }

    @Test func aMissingDatabaseIsNotCreated() throws {
        var options = world.options()
        options.owner = .host
        #expect(throws: StoreError.absent) { try Store(options) }
        #expect(!FileManager.default.fileExists(atPath: world.path))
    }

    /// Runs statements as `sqlite3` does.
    private func run(_ sql: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: world.path, configuration: configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }
}

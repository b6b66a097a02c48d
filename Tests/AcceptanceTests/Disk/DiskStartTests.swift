import Foundation
import GRDB
import MockEndorser
import Testing

/// A database that cannot be used ends the start with one sentence and exit code 2, and stays as it is.
@Suite struct DiskStartTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// A part of the sentence.
        let says: String
        /// Spoils the database of an agent that has run.
        let spoil: @Sendable (_ path: String) throws -> Void
        var testDescription: String { name }
    }

    /// A line of the log.
    private struct Line: Decodable {
        let event: String
        let level: String
        let error: String
    }

    static let cases = [
        Case(name: "a damaged page", says: "damaged") { path in
            let file = try FileHandle(forUpdating: URL(filePath: path))
            // Every page but the first, whose header SQLite looks at anyway.
            for page in 1..<(try file.seekToEnd() / 4096) where page % 3 == 1 {
                try file.seek(toOffset: page * 4096)
                try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            }
            try file.close()
        },
        Case(name: "a truncated database", says: "damaged") { path in
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.truncate(atOffset: file.seekToEnd() / 2)
            try file.close()
        },
        Case(name: "no database at all", says: "not a database") { path in
            try put(Data("This is a letter to somebody, and a long one.\n".utf8) + Data(count: 8192), at: path)
        },
        Case(name: "a database of another program", says: "another program") { path in
            try FileManager.default.removeItem(atPath: path)
            let queue = try DatabaseQueue(path: path)
            try queue.write { try $0.execute(sql: "CREATE TABLE others (x)") }
            try queue.close()
            try put(Data(contentsOf: URL(filePath: path)), at: path)
        },
        Case(name: "a newer schema", says: "newer program") { path in
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 9999") }
            try queue.close()
        },
        Case(name: "a file that others may read", says: "chmod 600") { path in
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        },
    ]

    /// Writes a file that only its owner may read.
    static func put(_ data: Data, at path: String) throws {
        try data.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test(arguments: cases)
    func aStartWithItSaysWhatToDoAndLeavesItAlone(bad: Case) async throws {
        let world = try await used()
        try bad.spoil(world.database)
        let before = try? Data(contentsOf: URL(filePath: world.database))
        try await expectRefusal(world, bad.says)
        #expect((try? Data(contentsOf: URL(filePath: world.database))) == before)
        try await world.mock.stop()
    }

    @Test(arguments: [("/sys/starwatch.db", "is in /sys"), ("/nonexistent/starwatch.db", "cannot be used")])
    func aStartInAFolderThatCannotBeWrittenToSaysSo(path: String, says: String) async throws {
        let workspace = try Workspace()
        try workspace.write("storage:\n  path: \(path)\n", to: "starwatch.yaml")
        let result = try await starwatch("run", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 2)
        #expect(result.errors.contains(says), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func aFolderInItsPlaceIsAMistakeOfTheConfiguration() async throws {
        let world = try await used()
        try FileManager.default.removeItem(atPath: world.database)
        try FileManager.default.createDirectory(atPath: world.database, withIntermediateDirectories: false)
        let result = try await starwatch("run", "--config", world.config)
        #expect(result.status == 2)
        #expect(result.errors.contains("storage.path: is a folder; add the name of the file."), "\(result.errors)")
        try await world.mock.stop()
    }

    @Test func aStartWhileAnotherProgramHasTheDatabaseLockedSaysSo() async throws {
        let world = try await used()
        let lock = try DatabaseLock(world.database)
        try await expectRefusal(world, "locked by another program")
        try lock.release()
        try await world.expectAllIsWell("after the lock")
        try await world.mock.stop()
    }

    @Test func aStartBesideAnotherAgentSaysSo() async throws {
        let world = try await used()
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        try await expectRefusal(world, "another agent", FaultLibrary.loading())
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test(arguments: [0, 1, 2])
    func aJournalThatIsTruncatedCostsWhatWasInItAndTheServerGivesItAgain(part: Int) async throws {
        let world = try await AgentWorld(.canonical)
        world.mock.publish(count: 3)
        // Dies when some of the cycle is in the journal, and before the journal begins to go into the database: cut off
        // in the middle of that, it would leave half of each.
        let writes = try await world.writesOfACycle()
        world.mock.publish(count: 3)
        try await world.cycle(FaultLibrary.dying(at: max(1, writes / 5)))
        let journal = world.database + "-wal"
        let file = try FileHandle(forUpdating: URL(filePath: journal))
        let size = try file.seekToEnd()
        try file.truncate(atOffset: [0, size / 2, size > 100 ? size - 100 : 0][part])
        try file.close()
        try await world.expectAllIsWell("after \(part) halves of the journal", mayRepeat: true)
        try await world.mock.stop()
    }

    @Test func anEmptyFileIsADatabaseThatIsStillToBeMade() async throws {
        let world = try await AgentWorld(.endorser)
        try Self.put(Data(), at: world.database)
        world.mock.publish(count: 3)
        try await world.expectAllIsWell("from an empty file")
        try await world.mock.stop()
    }

    /// The files of an agent that has delivered three changes.
    private func used() async throws -> AgentWorld {
        let world = try await AgentWorld(.canonical)
        world.mock.publish(count: 3)
        try await world.expectAllIsWell("the first cycle")
        return world
    }

    private func expectRefusal(
        _ world: AgentWorld,
        _ words: String,
        _ environment: [String: String] = [:]
    ) async throws {
        let result = try await starwatch("run", "--config", world.config, environment: environment)
        #expect(result.status == 2, "\(result.errors)")
        let line = try JSONDecoder().decode(Line.self, from: Data(result.errors.utf8))
        #expect(line.event == "agent.failed" && line.level == "ERROR")
        #expect(line.error.contains(words), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(result.output == "")
    }
}

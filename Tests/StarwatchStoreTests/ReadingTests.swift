import Foundation
import StarwatchCore
import Testing

@testable import StarwatchStore

/// A store that only reads, beside the agent that has the database open.
@Suite struct ReadingTests {
    let world = World()

    private func reader() throws -> Store {
        var options = world.options()
        options.reads = true
        return try Store(options)
    }

    @Test func itReadsWhatTheAgentHasCommittedAndWritesNothing() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let reader = try reader()
        #expect(reader.reads && !store.reads)
        #expect(try await reader.outbox.list(OutboxFilter()).count == 3)
        await #expect(throws: StoreError.self) {
            try await reader.logs.append([LogEntry(at: world.now, level: .info, line: "a line")])
        }
        try await world.commit(store, world.changes(4...5))
        #expect(try await reader.outbox.list(OutboxFilter()).count == 5)
        await reader.close()
        // The agent still has its lock.
        #expect(throws: StoreError.alreadyOpen) { try Store(world.options()) }
        await store.close()
    }

    @Test func itDoesNotEndTheLeasesOfTheAgentNorCreateAFile() async throws {
        #expect(throws: StoreError.absent) { try reader() }
        #expect(!FileManager.default.fileExists(atPath: world.path))
        let store = try await world.open()
        await store.close()
        let before = try Data(contentsOf: URL(filePath: world.path))
        let note = try Data(contentsOf: URL(filePath: world.path + ".lock"))
        try await reader().close()
        #expect(try Data(contentsOf: URL(filePath: world.path)) == before)
        #expect(try Data(contentsOf: URL(filePath: world.path + ".lock")) == note)
    }

    @Test func aCheckBesideTheAgentFindsDamage() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...500))
        try await world.options().checkDatabase()
        await store.close()
        let file = try FileHandle(forUpdating: URL(filePath: world.path))
        try file.seek(toOffset: 4096 * (file.seekToEnd() / 8192))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let error = await #expect(throws: StoreError.self) { try await world.options().checkDatabase() }
        #expect(error?.kind == .corrupt)
    }
}

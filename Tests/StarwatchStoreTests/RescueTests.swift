import Foundation
import StarwatchCore
import Testing

@testable import StarwatchStore

/// A database whose path does not name the open file any more.
@Suite struct RescueTests {
    let world = World()
    private var copy: String { world.path + ".rescued" }

    private func move(_ path: String, to other: String) throws { try #require(rename(path, other) == 0) }

    @Test func aDatabaseThatIsWhereItWasIsNotCopied() async throws {
        let store = try await world.open()
        #expect(!store.status.isFileLost)
        #expect(try await store.status.rescue(now: world.now) == nil)
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    /// Deleted with its logs, or with another file in its place.
    @Test(arguments: [false, true])
    func aLostDatabaseIsCopiedWithWhatCameAfterTheLoss(isReplaced: Bool) async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        for ending in ["", "-wal", "-shm"] { unlink(world.path + ending) }
        if isReplaced { try Data("another".utf8).write(to: URL(filePath: world.path)) }
        #expect(store.status.isFileLost)
        #expect((store.status.fileSizes() == nil) != isReplaced)
        #expect(try await store.status.rescue(now: world.now) == "starwatch.db.rescued")
        try await world.commit(store, world.changes(4...5))
        await store.close()
        var info = stat()
        #expect(stat(copy, &info) == 0 && info.st_mode & 0o777 == 0o600)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
        unlink(world.path)
        try move(copy, to: world.path)
        let again = try await world.open()
        #expect(try await again.outboxCounts()[.pending] == 5)
        #expect(try await world.integrityCheck().isEmpty)
        await again.close()
    }

    @Test func withoutRoomForACopyTheErrorIsToldAndTheFormerCopyStays() async throws {
        let store = try await world.open()
        try move(world.path, to: world.path + ".moved")
        #expect(try await store.status.rescue(now: world.now) != nil)
        // A folder in the place of the unfinished copy.
        #expect(mkdir(copy + ".partial", 0o700) == 0)
        await #expect(throws: StoreError.self) { try await store.status.rescue(now: world.now) }
        #expect(FileManager.default.fileExists(atPath: copy))
        try move(world.path + ".moved", to: world.path)
        #expect(!store.status.isFileLost)
        await store.close()
    }
}

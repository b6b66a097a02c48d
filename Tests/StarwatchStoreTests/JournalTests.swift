import Foundation
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The journal that the database keeps.
@Suite struct JournalTests {
    private let world = World()

    private func entry(_ number: Int, at time: Timestamp? = nil) -> JournalEntry {
        JournalEntry(at: time ?? world.now, .action, by: "socket:anna", verb: "outbox.retry", result: "\(number)")
    }

    @Test func entriesAreListedInTheirOrderAndByTime() async throws {
        let store = try await world.open()
        let reload = JournalEntry(
            at: world.now + .seconds(5),
            .reload,
            by: "signal",
            verb: "reload",
            target: "a1b2",
            result: "ok",
            detail: "log.level"
        )
        try await store.journal.append([entry(1), entry(2), reload])
        #expect(try await store.journal.list(since: nil, limit: 10).map(\.entry) == [entry(1), entry(2), reload])
        #expect(try await store.journal.list(since: nil, limit: 2).map(\.entry) == [entry(2), reload])
        #expect(try await store.journal.list(since: world.now + .seconds(1), limit: 10).map(\.entry) == [reload])
    }

    @Test func entriesExpireAfter90DaysAndAreLimited() async throws {
        let store = try await world.open()
        try await store.journal.append([entry(1)])
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(89)).logs == 0)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(91)).logs == 1)
        try await store.journal.append((0...StoreJournal.kept).map { entry($0) })
        let left = try await store.journal.list(since: nil, limit: 100_000).map(\.entry.result)
        #expect(left == (1...StoreJournal.kept).map(String.init))
    }

    @Test func theEndOfARunIsStoredOnce() async throws {
        let store = try await world.open()
        func end(of start: String, _ result: String) -> JournalEntry {
            JournalEntry(at: world.now, .runEnd, by: "agent", target: start, result: result)
        }
        #expect(try await store.journal.append(endOfRun: end(of: "a", "stopped")))
        #expect(try await store.journal.append(endOfRun: end(of: "a", "killed")) == false)
        #expect(try await store.journal.append(endOfRun: end(of: "b", "killed")))
        let left = try await store.journal.list(since: nil, limit: 10).map(\.entry.result)
        #expect(left == ["stopped", "killed"])
    }

    @Test func journalAndLogAreReadWithoutAStoreAndBesideOne() async throws {
        let store = try await world.open()
        try await store.journal.append([entry(1)])
        try await store.logs.append([LogEntry(at: world.now, level: .warn, runID: "run_1", line: "a line")])
        func read() throws -> StoredRecord { try StoredRecord.read(path: world.path, since: world.now) }
        let beside = try read()
        #expect(beside.journal == [entry(1)])
        #expect(beside.lines == [LogEntry(at: world.now, level: .warn, runID: "run_1", line: "a line")])
        await store.close()
        let after = try read()
        #expect(after.journal == beside.journal && after.lines == beside.lines)
        #expect(try StoredRecord.read(path: world.path, since: world.now + .seconds(1)).lines.isEmpty)
    }

    @Test func aDatabaseThatIsDamagedOrAbsentIsSaidToBe() async throws {
        #expect(throws: StoreError.absent) { try StoredRecord.read(path: world.path + "-other", since: world.now) }
        try await world.open().close()
        try Data(repeating: 7, count: 8192).write(to: URL(filePath: world.path))
        let error = #expect(throws: StoreError.self) { try StoredRecord.read(path: world.path, since: world.now) }
        #expect(error?.kind == .corrupt)
    }
}

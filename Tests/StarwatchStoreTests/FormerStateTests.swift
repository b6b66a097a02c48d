import GRDB
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchStore

/// The states that changes have left, in the database.
@Suite struct FormerStateTests {
    private let world = World()

    private func count() throws -> Int {
        try DatabaseQueue(path: world.path).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM former_states") ?? 0
        }
    }

    /// Two changes, of which the first was evicted and has returned.
    private func returned() async throws -> Store {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10))
        #expect(try await world.evict(store, .fifo, limit: 9) == 2)
        world.now = world.now + .seconds(1)
        try await world.commit(store, world.changes(1...2))
        return store
    }

    @Test func aDeliveryWithoutADetourWritesNone() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try count() == 0)
    }

    @Test func anEvictionWritesNoneAndAReturnOneOfEachChange() async throws {
        let store = try await returned()
        #expect(try count() == 2)
        let story = try #require(try await store.stories.change(1))
        try #require(story.history.count == 1)
        #expect(story.history[0].state == "evicted")
        #expect(story.history[0].endedAt == world.now - .seconds(1))
        #expect(story.history[0].step == .returned)
        #expect(story.history[0].at == world.now)
        #expect(try await store.stories.change(3)?.history == [])
    }

    @Test func aFormerStateIsKeptFor14Days() async throws {
        let store = try await returned()
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(14))
        #expect(try count() == 2)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(14) + .milliseconds(1))
        #expect(try count() == 0)
    }

    @Test func theOldestFormerStatesGoBeyondTheLimit() async throws {
        _ = try await returned()
        try await DatabaseQueue(path: world.path).write { db in
            let context = SessionContext(StoreOptions(path: ""))
            let states = FormerStates(db: Session(database: db, context: context))
            let trimmed = try states.trim(after: 0, keep: 1)
            let left = try Int.fetchAll(db, sql: "SELECT row_id FROM former_states")
            #expect(trimmed.last == 2 && trimmed.deleted == 1)
            #expect(left == [2])
            #expect(try states.trim(after: 2, keep: 1).last == nil)
        }
    }

    @Test func oneStepLooksAtAFewHundredStatesByTheirIdsAlone() async throws {
        let store = try await world.open()
        try await DatabaseQueue(path: world.path).write { db in
            for _ in 0..<FormerStates.step + 1 {
                try db.execute(sql: "INSERT INTO former_states (row_id, step, at) VALUES (9, 'returned', 1)")
            }
        }
        let statements = Recorded()
        try await store.database.writeWithoutTransaction { db in
            db.trace { event in if case .statement(let statement) = event { statements.add(statement.sql) } }
        }
        let (last, deleted) = try await store.direct(.retention) { db in
            try db.formerStates.trim(after: 0, keep: 100_000)
        }
        try await store.database.writeWithoutTransaction { db in db.trace(nil) }
        #expect(last == Int64(FormerStates.step))
        #expect(deleted == FormerStates.step)
        let sql = statements.texts.withLock { $0.filter { $0.contains("former_states") } }
        #expect(sql.count == 2)
        let plan = try await DatabaseQueue(path: world.path).read { db in
            try sql.flatMap { sql in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments(StatementArguments())
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
        }
        let steps = plan.filter { $0.contains("former_states") }
        #expect(steps.contains("SEARCH former_states USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"), "\(plan)")
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(plan)")
        // All passes together leave none.
        _ = try await store.retention.apply(RetentionPolicy(), now: Timestamp(milliseconds: 2))
        #expect(try count() == 0)
    }

    @Test func anErasedAccountTakesThemAlong() async throws {
        let store = try await returned()
        _ = try await store.identity.set(nil, server: World.server, now: world.now)
        #expect(try count() > 0)
        _ = try await store.identity.eraseAccount(World.alice)
        #expect(try count() == 0)
    }

    @Test func theLastNewsOfAStreamAreOfItsLastCycleWithNewChanges() async throws {
        let store = try await world.open()
        func finish(_ outcome: PollOutcome, new: Int) async throws {
            world.now = world.now + .seconds(60)
            var record = CycleRecord(
                stream: world.stream,
                runID: "run_\(world.now.milliseconds)",
                startedAt: world.now,
                finishedAt: world.now,
                outcome: outcome
            )
            record.newRows = new
            try await store.polls.finishCycle(record)
        }
        func lastNew() async throws -> Timestamp? {
            try await store.status.snapshot([world.stream]).streams[world.stream]?.lastNew
        }
        try await finish(.bootstrapped, new: 0)
        #expect(try await lastNew() == nil)
        try await finish(.changed, new: 3)
        let news = world.now
        try await finish(.unchanged, new: 0)
        try await finish(.failed, new: 0)
        #expect(try await lastNew() == news)
    }
}

import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchStore

/// The work of a transaction, which has no effect but on the database, so that it can be made again.
@Suite struct TransactionTests {
    private final class Changes: StoreObserver {
        let all = Mutex<[[OutboxChange: Int]]>([])

        func changed(_ rows: [OutboxChange: Int]) { all.withLock { $0.append(rows) } }
    }

    /// The rows, the reported changes and the memory after the life of some changes.
    private func run(rehearsing: Bool, _ steps: Int) async throws -> ([String], [[OutboxChange: Int]], Bool) {
        let (world, changes) = (World(), Changes())
        let store = try await world.open {
            ($0.rehearses, $0.observer) = (rehearsing, changes)
        }
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        let rows = try await FormerIdentityTests.rows(after: steps, in: store, world)
        let (unreadable, renewals) = (store.deliveries.takeUnreadable(), store.memory.renewals.load(ordering: .relaxed))
        let isRemembered = store.polls.rememberedState(world.stream, maxUndelivered: 100) != nil
        try await world.expectBalanced(store)
        #expect(unreadable == 0 && renewals == 0)
        await store.close()
        return (rows, changes.all.withLock { $0 }, isRemembered)
    }

    /// Nothing outside the database is changed by it that a second time would change once more.
    @Test(.enabled(if: World.isClear), arguments: 1...FormerIdentityTests.stepCount)
    func workThatIsMadeTwiceChangesWhatOnceWouldHave(steps: Int) async throws {
        let once = try await run(rehearsing: false, steps)
        #expect(try await run(rehearsing: true, steps) == once)
    }
}

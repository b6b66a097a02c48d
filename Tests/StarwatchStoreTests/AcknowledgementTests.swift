import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@Suite struct AcknowledgementTests {
    let world = World()

    @Test func openBatchKeepsItsKeyAndIdsAfterReopening() async throws {
        var store: Store? = try await world.open()
        try await world.commit(store!, world.changes(1...5))
        try await world.deliverAll(store!)
        let first = try #require(
            try await store!.acknowledgements.nextBatch(world.stream, limit: 3, now: world.now) { "key-1" }
        )
        #expect(first.ids == world.changes(1...3).map(\.id))
        await store?.close()
        store = nil
        store = try await world.open()
        let again = try await store!.acknowledgements.nextBatch(world.stream, limit: 100, now: world.now) { "key-2" }
        #expect(again == first)
        let done = try await store!.acknowledgements.complete(first, now: world.now)
        #expect(done == (acknowledged: 3, watermark: .advanced(to: world.id(3))))
        #expect(try await store!.acknowledgements.complete(first, now: world.now).acknowledged == 0)
        let next = try await store!.acknowledgements.nextBatch(world.stream, limit: 100, now: world.now) { "key-3" }
        #expect(next?.key == "key-3")
        #expect(next?.ids == [world.id(4), world.id(5)])
        try await world.expectBalanced(store!)
    }

    @Test func deferredBatchStaysTheSame() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.deliverAll(store)
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "key" }
        )
        try await store.acknowledgements.postpone(batch, until: world.now + .seconds(2))
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "new" } == nil)
        let again = try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now + .seconds(2)) {
            "new"
        }
        #expect(again?.key == "key")
        #expect(again?.ids == batch.ids)
        #expect(again?.attempts == 1)
    }

    @Test func watermarkStopsAtTheFirstOpenRow() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes([1, 2, 4, 5]))
        try await world.deliverAll(store)
        try await world.commit(store, world.changes([3])) { $0.cursor = .unchanged }
        let done = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(done == (acknowledged: 4, watermark: .advanced(to: world.id(2))))
        try await world.deliverAll(store, id: "ntf_late")
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(5))
    }

    @Test func watermarkStaysBelowTheFetchCursor() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes([9, 8, 7])) { $0.cursor = .unchanged }
        try await world.deliverAll(store)
        #expect(
            try await store.acknowledgements.completeLocally(world.stream, now: world.now)
                == (acknowledged: 3, watermark: .unchanged)
        )
        #expect(try await store.acknowledgements.watermark(world.stream) == nil)
        try await world.commit(store, []) { $0.cursor = .advance(to: world.id(9)) }
        #expect(
            try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
                == .advanced(to: world.id(9))
        )
    }

    @Test func theWatermarkPassesDeadRowsWithoutAcknowledgement() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.killAll(store)
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "k" } == nil)
        #expect(
            try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
                == .advanced(to: world.id(2))
        )
        #expect(try await store.acknowledgements.advanceWatermark(world.stream, now: world.now) == .unchanged)
    }

    @Test func compareAndSwapHasOneWinner() async throws {
        let store = try await world.open()
        let stream = world.stream
        #expect(try await store.swapWatermark(stream, expected: nil, new: world.id(2), now: world.now))
        #expect(try await !store.swapWatermark(stream, expected: nil, new: world.id(3), now: world.now))
        #expect(
            try await !store.swapWatermark(
                stream,
                expected: world.id(2),
                new: world.id(1),
                now: world.now
            )
        )
        #expect(
            try await !store.swapWatermark(
                stream,
                expected: world.id(2),
                new: world.id(2),
                now: world.now
            )
        )
        #expect(
            try await store.swapWatermark(stream, expected: world.id(2), new: world.id(4), now: world.now)
        )
        #expect(try await store.acknowledgements.watermark(stream) == world.id(4))
    }

    @Test func concurrentSwapsHaveOneWinner() async throws {
        let store = try await world.open()
        let (stream, now) = (world.stream, world.now)
        let ids = (1...32).map { world.id($0) }
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in ids {
                group.addTask {
                    try await store.swapWatermark(stream, expected: nil, new: id, now: now)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
    }

    @Test func starredWatermarkIsMirroredInTheSettings() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        let mirror = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT lastAckedStarredPlanChangesJwtId FROM settings")
        }
        #expect(mirror == world.id(2).rawValue)
    }

    @Test func halfABatchHasANewKeyAndTheRestFollows() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "key" }
        )
        try await store.acknowledgements.postpone(batch, until: world.now)
        try await store.acknowledgements.halve(batch, until: world.now + .seconds(1), newKey: "half")
        #expect(try await store.acknowledgements.nextAt(world.stream) == world.now + .seconds(1))
        world.now = world.now + .seconds(1)
        let half = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "new" }
        )
        #expect(half.key == "half")
        #expect(half.ids == world.changes(1...2).map(\.id))
        #expect(half.attempts == 0)
        #expect(try await store.acknowledgements.complete(half, now: world.now).acknowledged == 2)
        let rest = try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "rest" }
        #expect(rest?.ids == world.changes(3...5).map(\.id))
        try await world.expectBalanced(store)
    }
}

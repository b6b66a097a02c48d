import StarwatchCore
import Testing

@testable import StarwatchStore

/// The number of items that are remembered.
@Suite struct ListMemoryTests {
    let world = World()

    @Test func theOldestItemsThatAreNotListedAnyMoreAreForgotten() async throws {
        let store = try await world.open()
        let limit = JSONPoll.largestList
        try await world.commit(store, items: world.items(0..<100)) { $0.isBootstrap = true }
        world.now = world.now + .seconds(1)
        try await world.commit(store, items: world.items(100..<limit)) { $0.isBootstrap = true }
        #expect(try await world.count("seen_items") == limit)

        world.now = world.now + .seconds(1)
        let listed = world.items(0..<50).map(\.id)
        try await world.commit(store, items: [world.item(limit)]) { $0.listed = listed }
        #expect(try await world.count("seen_items") == limit / 10 * 9)
        // The first fifty are still listed; the others were seen before the rest.
        #expect(try await world.news(store, world.items(0..<50)) == [])
        #expect(try await world.news(store, world.items(50..<100)).count == 50)
        #expect(try await world.news(store, [world.item(limit)]) == [])
        let left = limit / 10 * 9 - 51
        #expect(try await world.news(store, world.items(100..<limit)).count == limit - 100 - left)
    }

    @Test func aPollThatNobodyRunsForAYearIsForgotten() async throws {
        let store = try await world.open()
        let (now, state) = (world.now, ListState())
        try await world.commit(store, items: [world.item(1)]) { $0.state = state }
        try await store.write(.edit) { db in
            try db.run("UPDATE streams SET last_attempt = ?", [now.milliseconds])
        }
        _ = try await store.retention.apply(RetentionPolicy(), now: now + .days(364))
        #expect(try await world.news(store, [world.item(1)]) == [])
        _ = try await store.retention.apply(RetentionPolicy(), now: now + .days(366))
        #expect(try await world.news(store, [world.item(1)]) == ["item-1"])
        #expect(try await store.outbox.listState(of: World.list) == nil)
        #expect(try await !store.polls.state(World.list, maxUndelivered: 10).bootstrapped)
    }
}

import StarwatchCore
import StarwatchStore
import Testing

@Suite struct FeedTests {
    let world = World()

    private func append(_ store: Store, _ tokens: String..., keep: Int = 100) async throws {
        for token in tokens {
            try await store.feed.append(token, payload: Array(token.utf8), keep: keep, now: world.now)
        }
    }

    private func tokens(_ rows: [FeedRow]) -> [String] { rows.map { String(decoding: $0.payload, as: UTF8.self) } }

    @Test func notificationsAreKeptOnceAndTheOldestAreDropped() async throws {
        let store = try await world.open()
        try await append(store, "a", "b", "a", "c", "d", "d", keep: 3)
        let rows = try await store.feed.list(before: nil, limit: 10)
        #expect(tokens(rows) == ["d", "c", "b"])
        #expect(rows.map(\.sequence) == [4, 3, 2])
        #expect(rows[0].storedAt == world.now)
        #expect(tokens(try await store.feed.list(before: 4, limit: 1)) == ["c"])
        #expect(tokens(try await store.feed.list(after: 2, limit: 10)) == ["c", "d"])
        #expect(tokens(try await store.feed.list(after: 0, limit: 2)) == ["b", "c"])
    }

    @Test func sequencesRiseAcrossRestartsAndWhenEmpty() async throws {
        var store: Store? = try await world.open()
        #expect(try await store!.feed.latestSequence() == 0)
        try await append(store!, "a", "b")
        try await store!.feed.trim(keep: 0)
        await store!.close()
        store = nil
        store = try await world.open()
        #expect(try await store!.feed.latestSequence() == 2)
        try await append(store!, "c")
        #expect(try await store!.feed.list(before: nil, limit: 10).map(\.sequence) == [3])
    }

    @Test func aChangeOfIdentityEmptiesTheFeedForGood() async throws {
        let store = try await world.open()
        try await append(store, "ntf_0")
        try await world.commit(store, world.changes(1...1))
        let notification = try #require(try await world.claim(store))
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.feed.list(before: nil, limit: 10).isEmpty)
        try await append(store, notification.id)
        #expect(try await store.feed.list(before: nil, limit: 10).isEmpty)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await append(store, notification.id)
        #expect(tokens(try await store.feed.list(before: nil, limit: 10)) == [notification.id])
    }

    @Test func retentionDeletesRowsOlderThanAMonth() async throws {
        let store = try await world.open()
        try await append(store, "a")
        world.now = world.now + .days(1)
        try await append(store, "b")
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(29) + .seconds(1))
        #expect(tokens(try await store.feed.list(before: nil, limit: 10)) == ["b"])
    }
}

import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// Invalid items that were rejected alone.
@Suite struct QuarantineTests {
    let world = World()

    /// The refused items of a page with these plans, as the decoder finds them.
    private func refused(_ plans: [String]) throws -> [RefusedItem] {
        let items = plans.map { #"{"plan":\#($0)}"# }.joined(separator: ",")
        return try PageDecoder(
            dialect: .endorser,
            validation: .lenient,
            quarantine: true
        ).decode(Array(#"{"data":[\#(items)],"hitLimit":false}"#.utf8)).refused
    }

    private func plan(_ n: Int) -> String { #"{"jwtId":"\#(world.id(n).rawValue)","handleId":null}"# }

    @discardableResult
    private func commit(
        _ store: Store,
        _ plans: [String],
        changes: [Change] = [],
        page: Int = 1
    ) async throws -> [RefusedItem] {
        let refused = try refused(plans)
        let counts = try await world.commit(store, changes) {
            $0.refused = refused
            $0.rejectedCount = refused.count
            $0.number = page
        }
        return try #require(counts).quarantined
    }

    @Test func anItemIsOneRowHoweverOftenItComes() async throws {
        let store = try await world.open()
        #expect(try await commit(store, [plan(1), #"{"name":"secret"}"#]).count == 2)
        let first = world.now
        world.now = world.now + .seconds(900)
        // The same item stands elsewhere now.
        #expect(try await commit(store, ["7", plan(1)], page: 3).map(\.id) == [nil])
        let items = try await store.quarantine.list()
        #expect(items.map(\.jwtID) == [nil, nil, world.id(1)])
        let item = try #require(items.last)
        #expect(item.times == 2 && item.page == 3 && item.runID == "run" && item.violation == .schema)
        #expect(item.createdAt == first && item.seenAt == world.now)
        #expect(item.issues.map(\.description) == ["$.data[1].plan.handleId: missing"])
        #expect(try await store.status.snapshot([world.stream]).quarantined == 3)
        try await world.expectBalanced(store)
    }

    @Test func nothingOfAnItemIsStoredButItsIdentifierAndItsFaults() async throws {
        let store = try await world.open()
        try await commit(store, [#"{"jwtId":"secret","handleId":"secret","name":"secret"}"#])
        await store.close()
        let texts = try await DatabaseQueue(path: world.path).read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM quarantine").map { "\($0)" }
        }
        #expect(texts.count == 1 && !texts[0].contains("secret"))
    }

    @Test func aDiscardedItemStaysHiddenWhileTheServerSendsIt() async throws {
        let store = try await world.open()
        try await commit(store, [plan(1), plan(2)])
        let id = try #require(try await store.quarantine.list().last?.id)
        #expect(try await store.quarantine.discard([id, 99], poll: nil, now: world.now) == 1)
        #expect(try await store.quarantine.discard([id], poll: nil, now: world.now) == 0)
        #expect(try await commit(store, [plan(1), plan(2)]).isEmpty)
        #expect(try await store.quarantine.list().map(\.jwtID) == [world.id(2)])
        #expect(try await store.status.snapshot([]).quarantined == 1)
        #expect(try await store.quarantine.discard(nil, poll: PollName("other"), now: world.now) == 0)
        #expect(try await store.quarantine.discard(nil, poll: world.stream.poll, now: world.now) == 1)
        #expect(try await store.status.snapshot([]).quarantined == 0)
    }

    @Test func anItemThatTheServerRepairsLeavesTheQuarantine() async throws {
        let store = try await world.open()
        try await commit(store, [plan(1), plan(2)])
        try await commit(store, [], changes: [world.change(1)])
        #expect(try await store.quarantine.list().map(\.jwtID) == [world.id(2)])
    }

    @Test func theListHasPagesAndTheQuarantineALimit() async throws {
        let store = try await world.open()
        // No page has more than 1,000 items.
        try await commit(store, (1...800).map(plan))
        try await commit(store, (801...1500).map(plan))
        #expect(try await store.status.snapshot([]).quarantined == 1000)
        let page = try await store.quarantine.list(limit: 2)
        #expect(page.map(\.jwtID) == [world.id(1500), world.id(1499)])
        let next = try await store.quarantine.list(before: page[1].id, limit: 1)
        #expect(next.map(\.jwtID) == [world.id(1498)])
        #expect(try await store.quarantine.list(poll: PollName("other")).isEmpty)
    }

    @Test func retentionDeletesWhatTheServerNoLongerSends() async throws {
        let store = try await world.open()
        try await commit(store, [plan(1), plan(2)])
        world.now = world.now + .days(20)
        try await commit(store, [plan(2)])
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(11))
        #expect(try await store.quarantine.list().map(\.jwtID) == [world.id(2)])
    }

    @Test func anotherIdentitysItemsDoNotCount() async throws {
        let store = try await world.open()
        try await commit(store, [plan(1)])
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.status.snapshot([]).quarantined == 0)
        #expect(try await store.quarantine.list().count == 1)
    }
}

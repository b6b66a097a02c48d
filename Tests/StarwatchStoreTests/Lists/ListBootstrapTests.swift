import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchStore

/// The first run of a poll of a list.
@Suite struct ListBootstrapTests {
    let world = World()

    @Test func aBootstrapOnlyRemembersAndEndsWithItsLastPage() async throws {
        let store = try await world.open()
        let first = try await world.commit(store, items: world.items(1...2)) { $0.isBootstrap = true }
        #expect(first?.handled == 2 && first?.inserted == 0)
        #expect(try await !store.polls.state(World.list, maxUndelivered: 10).bootstrapped)
        let last = try await world.commit(store, items: world.items(3...4)) {
            ($0.isBootstrap, $0.state) = (true, ListState())
        }
        let state = try await store.polls.state(World.list, maxUndelivered: 10)
        #expect(state.bootstrapped && state.fetchCursor == last?.fetchCursor && state.watermark == last?.fetchCursor)
        #expect(try await store.outbox.listState(of: World.list) == ListState())
        #expect(try await world.listRows(store).isEmpty)
        #expect(try await store.status.ledger(World.list) == Ledger())

        #expect(try await world.commit(store, items: world.items(1...5))?.inserted == 1)
        try await world.announceList(store)
        _ = try await store.acknowledgements.completeLocally(World.list, now: world.now)
        let id = try await world.listRows(store).first?.change.id
        #expect(try await store.acknowledgements.watermark(World.list) == id)
        try await world.expectBalanced(store)
    }

    @Test func anEmptyListBootstrapsToo() async throws {
        let store = try await world.open()
        try await world.commit(store, items: []) { ($0.isBootstrap, $0.state) = (true, ListState()) }
        let state = try await store.polls.state(World.list, maxUndelivered: 10)
        #expect(state.bootstrapped && state.watermark != nil)
        #expect(try await world.commit(store, items: [world.item(1)])?.inserted == 1)
    }

    /// With a later `bootstrap: latest` it would skip what it has not stored yet.
    @Test func aFirstRunThatAnnouncesNeedsNoBootstrapLater() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)])
        #expect(try await store.polls.state(World.list, maxUndelivered: 10).bootstrapped)
    }

    /// The log of SQLite is only safe from a power loss after it has moved into the database.
    @Test func theEndOfABootstrapSurvivesAPowerLoss() async throws {
        let witness = Witness()
        let store = try await world.open { $0.observer = witness }
        let before = witness["checkpoint"]
        try await world.commit(store, items: [world.item(1)]) { $0.isBootstrap = true }
        #expect(witness["checkpoint"] == before)
        try await world.commit(store, items: []) { ($0.isBootstrap, $0.state) = (true, ListState()) }
        #expect(witness["checkpoint"] == before + 1)
    }
}

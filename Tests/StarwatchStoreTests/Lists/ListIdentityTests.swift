import StarwatchCore
import Testing

@testable import StarwatchStore

/// Lists of an identity that leaves and returns, and rows that must make room.
@Suite struct ListIdentityTests {
    let world = World()

    private func leaveAndReturn(_ store: Store) async throws {
        for did in [World.bob, World.alice] {
            _ = try await store.identity.set(did, server: World.server, now: world.now)
        }
    }

    @Test func whatNoSinkHasIsAnnouncedOnceAfterTheReturn() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)])
        #expect(try await world.announceList(store).map(\.plan) == ["item-1"])
        try await world.commit(store, items: world.items(1...3)) { $0.state = ListState() }
        try await leaveAndReturn(store)
        #expect(try await world.announceList(store, id: "ntf_2") == [])
        // The whole list is asked for again.
        #expect(try await store.outbox.listState(of: World.list) == nil)
        #expect(try await world.commit(store, items: world.items(1...3))?.inserted == 2)
        let announced = try await world.announceList(store, id: "ntf_3")
        #expect(announced.map(\.plan) == ["item-2", "item-3"] && announced.allSatisfy { !$0.isEdition })
        #expect(try await world.commit(store, items: world.items(1...3))?.inserted == 0)
        try await world.expectBalanced(store)
    }

    @Test func aNotificationThatASinkHasIsNotAnnouncedAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)])
        let open = try await store.deliveries.claim(
            World.list,
            now: world.now,
            limit: 10,
            leaseUntil: world.now + .seconds(60),
            sinks: ["log", "other"]
        ) { rows, _ in (.made("ntf_1", count: rows.count), nil) }
        let tickets = try #require(open.first?.tickets)
        _ = try await store.deliveries.record(tickets[0], .ok, now: world.now, maxRetries: 3)
        try await leaveAndReturn(store)
        #expect(try await world.news(store, [world.item(1)]) == [])
    }

    @Test func anEditionThatNoSinkHasIsStillOneAfterTheReturn() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)])
        try await world.announceList(store)
        try await world.commit(store, items: [world.item(1, version: "2", rank: 2)])
        try await leaveAndReturn(store)
        try await world.commit(store, items: [world.item(1, version: "2", rank: 2)])
        #expect(try await world.announceList(store, id: "ntf_2").map(\.isEdition) == [true])
    }

    @Test func aBootstrapAfterTheReturnAnnouncesNothing() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items(1...2))
        try await leaveAndReturn(store)
        #expect(try await !store.polls.state(World.list, maxUndelivered: 10).bootstrapped)
        try await world.commit(store, items: world.items(1...2)) { ($0.isBootstrap, $0.state) = (true, ListState()) }
        #expect(try await world.news(store, world.items(1...2)) == [])
        #expect(try await world.announceList(store) == [])
        try await world.expectBalanced(store)
    }

    @Test func nothingOfAnErasedAccountStays() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)]) { $0.state = ListState() }
        #expect(try await world.count("seen_items") == 1)
        #expect(try await world.count("list_states") == 1)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.eraseAccount(World.alice)
        #expect(try await world.count("seen_items") == 0)
        #expect(try await world.count("list_states") == 0)
    }

    /// Nothing could fetch them again, because their identifiers are ours.
    @Test func rowsOfAListAreNeverEvicted() async throws {
        let store = try await world.open { $0.polls.insert(World.list.poll) }
        try await world.commit(store, items: world.items(1...8))
        world.now = world.now + .seconds(1)
        try await world.commit(store, world.changes(1...4))
        #expect(try await world.evict(store, .fifo, limit: 10) == 3)
        #expect(try await world.evict(store, .fifo, limit: 1) == 1)
        #expect(try await world.listRows(store).allSatisfy { $0.state == .pending })
        let state = try await store.polls.state(World.list, maxUndelivered: 8)
        #expect(state.room == 0 && !state.hasTombstones)
        #expect(try await world.commit(store, items: [world.item(9)], room: state.room)?.outOfRoom == true)
        try await world.expectBalanced(store)
    }
}

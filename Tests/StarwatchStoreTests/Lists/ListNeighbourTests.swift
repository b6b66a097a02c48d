import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchStore

/// Lists beside other streams of their account.
@Suite struct ListNeighbourTests {
    let world = World()

    /// One identifier stands for one change, so receivers and operators would take two items for one that was announced twice.
    @Test func twoListsOfOneMomentHaveDifferentIdentifiers() async throws {
        let store = try await world.open()
        let lists = [World.list, World.otherList]
        for (number, list) in lists.enumerated() {
            try await world.commit(store, items: world.items(1...3), of: list)
            #expect(try await world.announceList(store, id: "ntf_\(number)", of: list).count == 3)
        }
        let rows = try await store.outbox.list(OutboxFilter())
        #expect(rows.count == 6 && Set(rows.map(\.change.id)).count == 6)
        #expect(rows.allSatisfy { $0.change.changedAt == world.now })
        var filter = OutboxFilter()
        filter.isTwice = true
        #expect(try await store.outbox.list(filter) == [])
    }

    @Test func whatOneListHasSeenIsNewsOnAnother() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items(1...2)) { $0.state = ListState() }
        #expect(try await store.outbox.news(among: world.items(1...2), of: World.otherList).count == 2)
        #expect(try await store.outbox.listState(of: World.otherList) == nil)
        #expect(try await world.commit(store, items: world.items(1...2), of: World.otherList)?.inserted == 2)
        try await world.expectBalanced(store)
    }

    /// The identifiers of a list are ULIDs, whatever the server sends.
    @Test(arguments: Dialect.allCases)
    func aListDoesNotDependOnTheDialectOfTheServer(_ dialect: Dialect) async throws {
        let store = try await world.open { $0.polls.insert(World.list.poll) }
        _ = try await store.servers.rememberDialect(dialect, of: World.server, now: world.now)
        let changes = (1...3).map {
            Change(id: .floor(dialect.idKind, at: world.now + .seconds($0)), plan: "plan \($0)", name: nil)
        }
        #expect(try await world.commit(store, changes)?.inserted == 3)
        #expect(try await world.commit(store, items: world.items(1...3))?.inserted == 3)
        let rows = try await world.listRows(store)
        #expect(rows.count == 3 && rows.allSatisfy { $0.change.id.kind == .ulid })

        try await world.deliverAll(store)
        #expect(try await world.announceList(store).count == 3)
        for stream in [world.stream, World.list] {
            #expect(try await store.acknowledgements.completeLocally(stream, now: world.now).acknowledged == 3)
        }
        #expect(try await store.acknowledgements.watermark(world.stream) == changes.last?.id)
        #expect(try await store.acknowledgements.watermark(World.list) == rows.last?.change.id)
        try await world.expectBalanced(store)
    }

    @Test func aServerWithANewDialectLeavesListsAlone() async throws {
        let store = try await world.open()
        _ = try await store.servers.rememberDialect(.endorser, of: World.server, now: world.now)
        try await world.commit(store, world.changes(1...2))
        try await world.commit(store, items: world.items(1...2)) { $0.state = ListState() }
        let before = try await store.polls.state(World.list, maxUndelivered: 10)
        #expect(try await store.servers.rememberDialect(.canonical, of: World.server, now: world.now))
        #expect(try await store.polls.state(world.stream, maxUndelivered: 10).fetchCursor == nil)
        let state = try await store.polls.state(World.list, maxUndelivered: 10)
        #expect(state.bootstrapped && state.fetchCursor == before.fetchCursor)
        #expect(try await store.outbox.listState(of: World.list) == ListState())
        #expect(try await world.news(store, world.items(1...3)) == ["item-3"])
        #expect(try await world.commit(store, items: [world.item(3)])?.inserted == 1)
    }

    /// A list is at no server of the account, so its places say nothing about the server's dialect.
    @Test func anAccountWithAListMovesBesideTimestampedIdentifiers() async throws {
        let moves = MoveTests()
        let (source, destination) = (moves.source, moves.destination)
        let from = try await source.open()
        let id = JWTID.floor(.timestamped, at: source.now)
        try await source.commit(from, [Change(id: id, plan: "plan", name: nil)])
        try await source.commit(from, items: [source.item(1)])
        let text = try moves.text(try await moves.handOut(from))
        let to = try await moves.openDestination(isMany: false)
        _ = try await to.servers.rememberDialect(.canonical, of: World.server, now: destination.now)
        #expect(try await moves.take(to, text) == .arrived)
        #expect(try await destination.announceList(to).map(\.plan) == ["item-1"])
    }
}

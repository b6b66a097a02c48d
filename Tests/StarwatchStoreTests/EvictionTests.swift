import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchStore

@Suite struct EvictionTests {
    let world = World()

    @Test(arguments: [
        (EvictionPolicy.fifo, [1, 2, 3]), (.lifo, [10, 11, 12]), (.priority, [1, 2, 3]),
    ])
    func evictsByPolicyDownToNineTenths(_ policy: EvictionPolicy, _ gone: [Int]) async throws {
        let store = try await world.open()
        for n in 1...12 {
            world.now = world.now + .seconds(1)
            try await world.commit(store, [world.change(n)])
        }
        #expect(try await world.evict(store, policy, limit: 12) == 0)
        #expect(try await world.evict(store, policy, limit: 11) == 3)
        var filter = OutboxFilter()
        filter.states = [.evicted]
        #expect(try await store.outbox.list(filter).map(\.change.id) == gone.map { world.id($0) })
        #expect(try await store.status.ledger(world.stream).evicted == 3)
        try await world.expectBalanced(store)
    }

    /// Otherwise an account with many changes would take the room of the others, and have their changes evicted.
    @Test func theLimitIsThatOfOneAccount() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...8))
        let full = try await store.polls.state(world.stream, maxUndelivered: 10)
        #expect(full.openRows == 8 && full.room == 2)
        // Rows that a host program left open when it changed the identity by itself.
        let bob = StreamKey(account: World.bob, server: World.server, poll: world.stream.poll)
        _ = try await store.polls.state(bob, maxUndelivered: 10)
        let now = world.now
        try await store.write(.identity) { db in
            try db.identity.ensureSettings(World.bob, server: World.server, now: now)
            _ = try db.identity.point(to: World.bob, generation: 1, now: now)
        }
        try await world.commit(store, world.changes(11...14), stream: bob)
        let state = try await store.polls.state(bob, maxUndelivered: 10)
        #expect(state.openRows == 4 && state.room == 6)
        #expect(try await evict(store, World.bob, 9) == 0)
        #expect(try await evict(store, World.bob, 3) == 2)
        #expect(try await evict(store, World.alice, 8) == 0)
        #expect(try await store.status.ledger(world.stream).evicted == 0)
    }

    private func evict(_ store: Store, _ account: DID, _ limit: Int) async throws -> Int {
        try await store.outbox.evict(.fifo, of: account, server: World.server, maxUndelivered: limit, now: world.now)
    }

    @Test func rowsThatNothingFetchesAgainAreNotEvicted() async throws {
        let store = try await world.open()
        let otherServer = StreamKey(account: World.alice, server: "https://former.example", poll: world.stream.poll)
        let formerPoll = StreamKey(account: World.alice, server: World.server, poll: PollName("former")!)
        for stream in [otherServer, formerPoll] { try await world.commit(store, world.changes(1...4), stream: stream) }
        world.now = world.now + .seconds(1)
        try await world.commit(store, world.changes(11...14))
        #expect(try await world.evict(store, .fifo, limit: 9) == 4)
        var filter = OutboxFilter()
        filter.states = [.evicted]
        #expect(try await store.outbox.list(filter).allSatisfy { $0.stream == world.stream })
    }

    /// The server now sends those changes with other identifiers.
    @Test(arguments: [(Dialect.endorser, Dialect.canonical), (.canonical, .endorser)])
    func rowsOfTheFormerDialectAreNotEvicted(_ former: Dialect, _ dialect: Dialect) async throws {
        let store = try await world.open()
        for spoken in [former, dialect] {
            _ = try await store.servers.rememberDialect(spoken, of: World.server, now: world.now)
            let changes = (1...6).map {
                Change(id: .floor(spoken.idKind, at: world.now + .seconds($0)), plan: "plan \($0)", name: nil)
            }
            try await world.commit(store, changes)
            world.now = world.now + .seconds(1)
        }
        #expect(try await world.evict(store, .fifo, limit: 11) == 3)
        #expect(try await world.evict(store, .fifo, limit: 2) == 3)
        var filter = OutboxFilter()
        filter.states = [.evicted]
        #expect(try await store.outbox.list(filter).allSatisfy { $0.change.id.kind == dialect.idKind })
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor?.kind == dialect.idKind)
        try await world.expectBalanced(store)
    }

    /// The stream can start above them, and then nothing fetches them again.
    @Test func rowsOfAStreamWithoutABootstrapAreNotEvicted() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...12))
        try await world.killAll(store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        let generation = try await store.identity.set(World.alice, server: World.server, now: world.now)
            .identity.generation
        let dead = try await store.outbox.list(OutboxFilter()).map(\.id)
        #expect(
            try await store.outbox.retry(dead, of: world.account, sinks: ["log"], now: world.now, make: renewed) == 12
        )
        #expect(try await world.evict(store, .fifo, limit: 2) == 0)

        let top = world.id(20)
        _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: top, now: world.now)
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await world.commit(store, [world.change(21)])
        try await world.deliverAll(store, id: "ntf_next")
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.fetchCursor == world.id(21) && state.watermark == world.id(21))
        try await world.expectBalanced(store)
    }

    @Test func lowestPriorityGoesFirst() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5)) { $0.priority = 5 }
        try await world.commit(store, world.changes(6...10))
        _ = try await world.evict(store, .priority, limit: 9)
        var filter = OutboxFilter()
        filter.states = [.evicted]
        #expect(try await store.outbox.list(filter).map(\.change.id) == [world.id(6), world.id(7)])
    }

    @Test func tombstonesHoldCursorAndWatermarkUntilFetchedAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10))
        #expect(try await world.evict(store, .fifo, limit: 9) == 2)
        let cursor = try #require(try await store.polls.state(world.stream, maxUndelivered: 9).fetchCursor)
        #expect(cursor.precedes(world.id(1)) == true)
        try await world.deliverAll(store)
        #expect(
            try await store.acknowledgements.completeLocally(world.stream, now: world.now)
                == (acknowledged: 8, watermark: .unchanged)
        )
        try await world.commit(store, []) { $0.cursor = .advance(to: world.id(10)) }
        #expect(try await store.polls.state(world.stream, maxUndelivered: 9).fetchCursor == cursor)
        let counts = try #require(try await world.commit(store, world.changes(1...10), room: 1))
        #expect(counts.refetched == 1)
        #expect(counts.outOfRoom)
        #expect(counts.lastHandled == world.id(1))
        let rest = try #require(try await world.commit(store, world.changes(1...10), room: 5))
        #expect(rest.refetched == 1)
        #expect(rest.inserted == 0)
        #expect(rest.fetchCursor == world.id(10))
        #expect(try await store.outbox.list(OutboxFilter()).first?.change.name == "name 1")
        try await world.deliverAll(store, id: "ntf_again")
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(10))
        try await world.expectBalanced(store)
    }

    @Test func tombstonesThatTheServerNoLongerSendsAreSettled() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10))
        _ = try await world.evict(store, .fifo, limit: 9)
        let walkStart = world.now + .seconds(1)
        let counts = try #require(
            try await world.commit(store, world.changes(2...11)) {
                $0.cursor = .advance(to: world.id(11))
                $0.completed = .init(after: nil, through: world.id(11), startedAt: walkStart)
            }
        )
        #expect(counts.superseded == 1)
        #expect(counts.refetched == 1)
        #expect(counts.fetchCursor == world.id(11))
        try await world.expectBalanced(store)
    }

    @Test func tombstonesMadeDuringTheWalkAreKept() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10))
        let walkStart = world.now
        _ = try await world.evict(store, .fifo, limit: 9)
        let counts = try await world.commit(store, []) {
            $0.completed = .init(after: nil, through: world.id(11), startedAt: walkStart)
        }
        #expect(counts?.superseded == 0)
        #expect(try await store.outboxCounts()[.evicted] == 2)
    }

    @Test func rowsBelowTheWatermarkAreNotFetchedAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await world.killAll(store)
        try await world.commit(store, world.changes(4...6))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(6))
        var dead = OutboxFilter()
        dead.states = [.dead]
        world.now = world.now + .days(8)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now)
        _ = try await store.outbox.retry(
            try await store.outbox.list(dead).map(\.id),
            of: world.account,
            sinks: [],
            now: world.now,
            make: renewed
        )
        try await world.commit(store, world.changes(7...12))
        #expect(try await world.evict(store, .fifo, limit: 8) == 2)
        var evicted = OutboxFilter()
        evicted.states = [.evicted]
        #expect(try await store.outbox.list(evicted).map(\.change.id) == [world.id(7), world.id(8)])
        try await world.expectBalanced(store)
    }
}

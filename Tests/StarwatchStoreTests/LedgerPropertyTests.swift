import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// Thousands of random operations. The guarantees must hold after each of them.
@Suite struct LedgerPropertyTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func promisesHoldUnderRandomOperations(seed: UInt64) async throws {
        var run = RandomRun(seed: seed)
        try await run.play(steps: 800)
    }
}

/// SplitMix64: the same operations for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

private struct RandomRun {
    static let cap = 60
    let world = World()
    var random: SeededGenerator
    /// The server's changes, ascending. They grow now and then.
    var top = 0
    var tickets: [DeliveryTicket] = []
    var notifications = 0
    var former: JWTID?
    var generation = 1
    var delivered: [JWTID: Int] = [:]

    /// Optional sinks of every second seed.
    let optional: Set<String>

    init(seed: UInt64) {
        random = SeededGenerator(state: seed)
        optional = seed % 2 == 0 ? ["y"] : []
    }

    mutating func play(steps: Int) async throws {
        var store: Store? = try await open()
        for step in 0..<steps {
            world.now = world.now + .milliseconds(Int.random(in: 1...3000, using: &random))
            if Int.random(in: 0..<100, using: &random) == 0 {
                await store?.close()
                store = nil
                store = try await open()
            }
            let before = try await store!.acknowledgements.watermark(world.stream)
            let mayFall = try await operation(store!)
            try await check(store!, step, before, mayFall)
        }
        // At the end every row can be finished.
        try await drain(store!)
    }

    private func open() async throws -> Store { try await world.open { $0.optionalSinks = optional } }

    /// - Returns: Whether the watermark can fall, as after a change of identity.
    mutating func operation(_ store: Store) async throws -> Bool {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...4: try await poll(store)
        case 5...7: try await claim(store)
        case 8...11: try await deliver(store)
        case 12:
            tickets += try await world.reclaim(
                store,
                until: world.now + .seconds(5)
            ).flatMap(\.tickets)
        case 13, 14:
            let limit = Int.random(in: 1...20, using: &random)
            let key = "key-\(UInt64.random(in: 0...UInt64.max, using: &random))"
            if let batch = try await store.acknowledgements.nextBatch(
                world.stream,
                limit: limit,
                now: world.now,
                newKey: { key }
            ) {
                if Bool.random(using: &random) {
                    _ = try await store.acknowledgements.complete(batch, now: world.now)
                } else {
                    try await store.acknowledgements.postpone(batch, until: world.now + .seconds(1))
                }
            }
        case 15:
            if Bool.random(using: &random) {
                _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
            }
        case 16:
            let policy = EvictionPolicy.allCases.randomElement(using: &random)!
            _ = try await store.outbox.evict(
                policy,
                of: world.account,
                server: World.server,
                maxUndelivered: Int.random(in: 5...Self.cap, using: &random),
                now: world.now
            )
        case 17:
            var filter = OutboxFilter()
            // Claimed rows are discarded too, and ignored by a retry.
            filter.states = Int.random(in: 0..<4, using: &random) == 0 ? [.dead, .claimed] : [.dead]
            filter.includesUndelivered = true
            let dead = try await store.outbox.list(filter).map(\.id).filter { _ in Bool.random(using: &random) }
            if Bool.random(using: &random) {
                let sinks = [["x"], ["x", "y"]].randomElement(using: &random)!
                _ = try await store.outbox.retry(dead, of: world.account, sinks: sinks, now: world.now, make: renewed)
            } else {
                _ = try await store.outbox.discard(dead, now: world.now, make: renewed)
            }
        case 18:
            _ = try await store.stars.set(["a", "b", "c"], of: World.alice, server: World.server, now: world.now)
            _ = try await store.stars.remove(
                [["a", "b", "c"].randomElement(using: &random)!],
                of: World.alice,
                server: World.server,
                now: world.now
            )
            _ = try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
        default:
            guard Int.random(in: 0..<12, using: &random) == 0 else { return false }
            _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
            _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
            return true
        }
        return false
    }

    private mutating func poll(_ store: Store) async throws {
        top += Int.random(in: 0...6, using: &random)
        let state = try await store.polls.state(world.stream, maxUndelivered: Self.cap)
        #expect(state.openRows + state.room >= Self.cap)
        // Everything above the cursor, and the two items at and below it: the overlap.
        let cursor = state.fetchCursor.map { Int($0.timestamp.wholeSeconds - 1_767_000_000) } ?? 0
        let given = (min(top, max(0, cursor - 1))...top).map { world.change($0, plan: ["a", "b", "c"][$0 % 3]) }
        let stale = Int.random(in: 0..<20, using: &random) == 0
        var page = PageCommit(
            stream: world.stream,
            expectedGeneration: state.generation - (stale ? 1 : 0),
            runID: "run",
            changes: given.map { FetchedChange($0) },
            room: state.room,
            now: world.now
        )
        if Bool.random(using: &random) {
            page.cursor = .followItems(upTo: nil)
        } else {
            page.changes.reverse()
            page.cursor = .advance(to: world.id(top))
        }
        page.rejectedCount = Int.random(in: 0...1, using: &random)
        let result = try await store.outbox.commit(page: page)
        #expect((result == nil) == stale)
    }

    private mutating func claim(_ store: Store) async throws {
        notifications += 1
        let sinks = [["x"], ["x", "y"]].randomElement(using: &random)!
        let limit = Int.random(in: 1...15, using: &random)
        if let open = try await world.claim(
            store,
            limit: limit,
            sinks: sinks,
            id: "ntf_\(notifications)",
            lease: .seconds(5)
        ) {
            tickets += open.tickets
        }
    }

    private mutating func deliver(_ store: Store) async throws {
        guard let index = tickets.indices.randomElement(using: &random) else { return }
        let ticket = tickets.remove(at: index)
        let outcome: DeliveryOutcome =
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5: .ok
            case 6, 7: .rejected(nextAttemptAt: world.now + .seconds(1))
            case 8:
                Bool.random(using: &random)
                    ? .unavailable(nextAttemptAt: world.now + .seconds(2)) : .givenUp(isAttempt: true)
            default: .gone
            }
        let result = try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 2)
        if case .delivered(let ids) = result {
            for id in ids { delivered[id, default: 0] += 1 }
        }
    }

    private mutating func check(_ store: Store, _ step: Int, _ before: JWTID?, _ mayFall: Bool) async throws {
        try await world.expectBalanced(store)
        let counts = try await store.outboxCounts()
        #expect(counts[.pending]! + counts[.claimed]! <= Self.cap + 60, "step \(step)")
        // The remembered snapshot equals the stored state.
        let remembered = store.status.rememberedSnapshot([world.stream])
        let read = try await store.status.snapshot([world.stream])
        #expect(remembered == nil || remembered == read, "step \(step)")
        #expect(store.status.rememberedSnapshot([world.stream]) == read, "step \(step)")
        var open = OutboxFilter()
        open.states = Set(counts.keys)
        open.limit = 100_000
        let rows = Dictionary(grouping: try await store.outbox.list(open), by: \.state).mapValues(\.count)
        #expect(counts.filter { $0.value > 0 } == rows, "step \(step)")
        let after = try await store.acknowledgements.watermark(world.stream)
        if mayFall {
            #expect(after == nil)
            return
        }
        guard after != before else { return }
        let watermark = try #require(after, "the watermark fell at step \(step)")
        if let before { #expect(before.precedes(watermark) == true, "the watermark fell at step \(step)") }
        var filter = OutboxFilter()
        filter.states = Set(OutboxState.allCases.filter { !$0.isTerminal })
        filter.limit = 10_000
        for row in try await store.outbox.list(filter) {
            #expect(watermark.precedes(row.change.id) == true, "passed an open row at step \(step)")
        }
        let cursor = try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor
        #expect(cursor.map { $0.precedes(watermark) == false } == true)
    }

    private mutating func drain(_ store: Store) async throws {
        for round in 0..<8 {
            world.now = world.now + .seconds(10)
            let state = try await store.polls.state(world.stream, maxUndelivered: 10_000)
            _ = try await world.commit(
                store,
                (0...top).map { world.change($0, plan: ["a", "b", "c"][$0 % 3]) },
                room: state.room
            )
            for open in try await world.claimAll(store, id: "ntf_drain\(round)") {
                _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
            }
            for open in try await world.reclaim(store, until: world.now + .seconds(5)) {
                for ticket in open.tickets {
                    _ = try await store.deliveries.record(ticket, .ok, now: world.now, maxRetries: 3)
                }
            }
            _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        }
        let counts = try await store.outboxCounts()
        #expect(counts[.pending] == 0 && counts[.claimed] == 0 && counts[.delivered] == 0 && counts[.evicted] == 0)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(top))
        #expect(try await store.outbox.list(.all).count == top + 1, "every change of the server has its row")
        try await world.expectBalanced(store)
    }
}

extension OutboxFilter {
    static var all: OutboxFilter {
        var filter = OutboxFilter()
        filter.limit = 1_000_000
        return filter
    }
}

import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// The identity can change between any two transactions of the pipeline. No later step of the round writes anything for
/// the former identity.
@Suite struct FormerIdentityTests {
    /// The state that the steps of one round pass on.
    private struct Round: Sendable {
        var state: PollState?
        var notification: OpenNotification?
        var batch: AckBatch?
    }

    private struct Step: Sendable {
        let name: String
        /// Whether the step uses a generation, ticket or batch of the round, so that it is stale even if the same
        /// identity returns.
        let isBound: Bool
        let run: @Sendable (Store, StreamKey, Timestamp, inout Round) async throws -> Void
    }

    private static let steps: [Step] = [
        Step(name: "finishBootstrap", isBound: true) { store, stream, now, round in
            _ = try await store.polls.finishBootstrap(
                stream,
                generation: round.state!.generation,
                top: JWTID.floor(.ulid, at: now - .seconds(100)),
                now: now
            )
        },
        Step(name: "commit", isBound: true) { store, stream, now, round in
            var page = PageCommit(
                stream: stream,
                expectedGeneration: round.state!.generation,
                runID: "run",
                changes: (1...4).map {
                    FetchedChange(Change(id: .floor(.ulid, at: now - .seconds(10 - $0)), plan: "plan", name: nil))
                },
                room: 100,
                now: now
            )
            page.cursor = .followItems(upTo: nil)
            _ = try await store.outbox.commit(page: page)
        },
        Step(name: "claim", isBound: false) { store, stream, now, round in
            round.notification = try await store.deliveries.claim(
                stream,
                now: now,
                limit: 100,
                leaseUntil: now + .seconds(60),
                sinks: ["log"]
            ) { rows, _ in (.made("ntf", count: rows.count), nil) }.first
        },
        Step(name: "recordDelivery", isBound: true) { store, _, now, round in
            _ = try await store.deliveries.record(round.notification!.tickets[0], .ok, now: now, maxRetries: 3)
        },
        Step(name: "nextAckBatch", isBound: false) { store, stream, now, round in
            round.batch = try await store.acknowledgements.nextBatch(stream, limit: 2, now: now) { "key" }
        },
        Step(name: "deferAck", isBound: true) { store, _, now, round in
            try await store.acknowledgements.postpone(round.batch!, until: now, newKey: nil)
        },
        Step(name: "completeAck", isBound: true) { store, _, now, round in
            _ = try await store.acknowledgements.complete(round.batch!, now: now)
        },
        Step(name: "acknowledgeLocally", isBound: false) { store, stream, now, _ in
            _ = try await store.acknowledgements.completeLocally(stream, now: now)
        },
        Step(name: "advanceWatermark", isBound: false) { store, stream, now, _ in
            _ = try await store.acknowledgements.advanceWatermark(stream, now: now)
        },
    ]

    static var stepCount: Int { steps.count }

    /// Does the first steps of a round.
    ///
    /// - Returns: The rows.
    static func rows(after count: Int, in store: Store, _ world: World) async throws -> [String] {
        var round = Round()
        round.state = try await store.polls.state(world.stream, maxUndelivered: 100)
        for step in steps[..<count] { try await step.run(store, world.stream, world.now, &round) }
        return try Self().dump(world.path)
    }

    /// Every row of every table that a step can write.
    private func dump(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { db in
            try [
                "settings", "streams", "watermarks", "ledger", "notification_outbox", "notifications", "deliveries",
                "ack_batches", "active_identity",
            ].flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1, 2").map { "\(table) \($0)" }
            }
        }
    }

    @Test(arguments: steps.indices, [false, true])
    func aStepAfterAChangeOfIdentityWritesNothing(index: Int, isBackAgain: Bool) async throws {
        let step = Self.steps[index]
        guard step.isBound || !isBackAgain else { return }
        let world = World()
        let store = try await world.open()
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        var round = Round()
        round.state = try await store.polls.state(world.stream, maxUndelivered: 100)
        for earlier in Self.steps[..<index] { try await earlier.run(store, world.stream, world.now, &round) }

        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        if isBackAgain { _ = try await store.identity.set(World.alice, server: World.server, now: world.now) }
        let before = try dump(world.path)
        try await step.run(store, world.stream, world.now + .seconds(1), &round)
        #expect(try dump(world.path) == before, "\(step.name)")
        try await world.expectBalanced(store)
    }

    /// The last two find nothing to do after the others. Another test covers them.
    @Test(arguments: steps.indices.dropLast(2))
    func theSameStepWithoutAChangeWritesSomething(index: Int) async throws {
        let world = World()
        let store = try await world.open()
        var round = Round()
        round.state = try await store.polls.state(world.stream, maxUndelivered: 100)
        for earlier in Self.steps[..<index] { try await earlier.run(store, world.stream, world.now, &round) }
        let before = try dump(world.path)
        try await Self.steps[index].run(store, world.stream, world.now + .seconds(1), &round)
        #expect(try dump(world.path) != before, "\(Self.steps[index].name)")
    }

    @Test func aFormerIdentitysRowsAreNotAcknowledgedAndItsWatermarkStays() async throws {
        let world = World()
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await world.deliverAll(store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "key" } == nil)
        #expect(try await store.acknowledgements.completeLocally(world.stream, now: world.now).acknowledged == 0)
        #expect(try await store.acknowledgements.advanceWatermark(world.stream, now: world.now) == .unchanged)
        #expect(try await store.acknowledgements.watermark(world.stream) == nil)
        #expect(try await store.outboxCounts()[.delivered] == 3)
    }

    @Test func archivedStarsReturnOnlyOnRequestAndToTheirOwner() async throws {
        let world = World()
        let store = try await world.open()
        _ = try await store.stars.set(["a", "b"], of: World.alice, server: World.server, now: world.now)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.stars.restore(of: World.bob, server: World.server, now: world.now).isEmpty)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(try await store.stars.list(of: World.alice).isEmpty)
        _ = try await store.stars.set(["c", "a"], of: World.alice, server: World.server, now: world.now)
        let restored = try await store.stars.restore(of: World.alice, server: World.server, now: world.now)
        #expect(restored == ["c", "a", "b"])
        let again = try await store.stars.restore(of: World.alice, server: World.server, now: world.now)
        #expect(again == ["c", "a", "b"])

        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(30))
        #expect(try await store.stars.archived(of: World.alice).count == 1)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await store.stars.archived(of: World.alice).isEmpty)
    }
}

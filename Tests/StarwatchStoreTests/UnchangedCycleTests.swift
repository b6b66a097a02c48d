import StarwatchCore
import StarwatchStore
import Testing

/// Most cycles find nothing. They neither wait for the store nor read from it.
@Suite struct UnchangedCycleTests {
    let world = World()

    private func remembered(_ store: Store, cap: Int = 1000) -> PollState? {
        store.rememberedPollState(world.stream, maxUndelivered: cap)
    }

    @Test func aReadStateIsRememberedForTheSameLimit() async throws {
        let store = try await world.open()
        #expect(remembered(store) == nil)
        let state = try await store.pollState(world.stream, maxUndelivered: 1000)
        #expect(remembered(store) == state)
        #expect(remembered(store, cap: 999) == nil)
        _ = try await store.snapshot([world.stream])
        #expect(remembered(store) == state)
    }

    @Test(arguments: ["commit", "claim", "delivery", "acknowledgement", "eviction", "identity"])
    func everyWriteThatCanChangeTheStateClearsIt(_ kind: String) async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let notification = kind == "delivery" ? try await world.claim(store) : nil
        if kind == "acknowledgement" { try await world.deliverAll(store) }
        _ = try await store.pollState(world.stream, maxUndelivered: 1000)
        try #require(remembered(store) != nil)
        switch kind {
        case "commit": try await world.commit(store, world.changes(4...4))
        case "claim": _ = try await world.claim(store)
        case "delivery":
            let ticket = try #require(notification?.tickets.first)
            _ = try await store.recordDelivery(ticket, .ok, now: world.now, maxRetries: 3)
        case "acknowledgement": _ = try await store.acknowledgeLocally(world.stream, now: world.now)
        case "eviction": _ = try await store.evict(.fifo, server: World.server, maxUndelivered: 1, now: world.now)
        default: _ = try await store.setIdentity(World.bob, server: World.server, now: world.now)
        }
        #expect(remembered(store) == nil)
        let state = try await store.pollState(world.stream, maxUndelivered: 1000)
        #expect(remembered(store) == state)
    }

    @Test(.enabled(if: World.isClear)) func aHostsDatabaseIsAlwaysRead() async throws {
        try await world.open().close()
        let store = try await world.open { $0.owner = .host }
        _ = try await store.pollState(world.stream, maxUndelivered: 1000)
        #expect(remembered(store) == nil)
    }

    @Test func recordedCyclesAreStoredBeforeLaterCalls() async throws {
        let store = try await world.open()
        let other = StreamKey(account: World.alice, server: World.server, poll: PollName("other")!)
        for stream in [world.stream, other] {
            var cycle = CycleRecord.make(world, .unchanged)
            cycle.stream = stream
            cycle.successAt = world.now + .seconds(1)
            cycle.nextRun = world.now + .seconds(60)
            store.recordUnchanged(cycle)
        }
        for stream in [world.stream, other] {
            let state = try await store.pollState(stream, maxUndelivered: 1000)
            #expect(state.lastSuccess == world.now + .seconds(1))
            #expect(state.nextRun == world.now + .seconds(60))
        }
    }

    @Test func cyclesDuringABusyStoreShareATransaction() async throws {
        let witness = Witness()
        let store = try await world.open { options in
            options.onTransaction = { operation, _ in
                if operation == .finishCycle { witness.add("finished") }
            }
        }
        // On the store's own queue nothing else runs until this returns.
        let cycle = CycleRecord.make(world, .unchanged)
        await store.onItsQueue { @Sendable in
            for _ in 0..<5 { store.recordUnchanged(cycle) }
        }
        _ = try await Task { try await store.activeIdentity() }.value
        #expect(witness["finished"] == 1)
    }

    @Test func aFailureToStoreACycleIsReported() async throws {
        let witness = Witness()
        let store = try await world.open { options in options.onUnrecorded = { _ in witness.add("lost") } }
        await store.close()
        store.recordUnchanged(CycleRecord.make(world, .unchanged))
        await store.close()
        #expect(witness["lost"] == 1)
    }
}

extension Store {
    fileprivate func onItsQueue(_ work: @Sendable () -> Void) { work() }
}

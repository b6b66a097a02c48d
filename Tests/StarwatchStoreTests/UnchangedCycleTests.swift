import Dispatch
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

/// Most cycles find nothing. They neither wait for the store nor read from it.
@Suite struct UnchangedCycleTests {
    let world = World()

    private func remembered(_ store: Store, cap: Int = 1000) -> PollState? {
        store.polls.rememberedState(world.stream, maxUndelivered: cap)
    }

    @Test func aReadStateIsRememberedForTheSameLimit() async throws {
        let store = try await world.open()
        #expect(remembered(store) == nil)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(remembered(store) == state)
        #expect(remembered(store, cap: 999) == nil)
        _ = try await store.status.snapshot([world.stream])
        #expect(remembered(store) == state)
    }

    @Test(arguments: ["commit", "claim", "delivery", "acknowledgement", "eviction", "identity"])
    func everyWriteThatCanChangeTheStateClearsIt(_ kind: String) async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let notification = kind == "delivery" ? try await world.claim(store) : nil
        if kind == "acknowledgement" { try await world.deliverAll(store) }
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        try #require(remembered(store) != nil)
        switch kind {
        case "commit": try await world.commit(store, world.changes(4...4))
        case "claim": _ = try await world.claim(store)
        case "delivery":
            let ticket = try #require(notification?.tickets.first)
            _ = try await store.deliveries.record(ticket, .ok, now: world.now, maxRetries: 3)
        case "acknowledgement": _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        case "eviction":
            _ = try await world.evict(store, .fifo, limit: 1)
        default: _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        }
        #expect(remembered(store) == nil)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(remembered(store) == state)
    }

    /// Otherwise each of many accounts would read its state again whenever another one stores something.
    @Test(arguments: ["commit", "claim", "delivery", "acknowledgement", "eviction", "stars", "settling", "bootstrap"])
    func aWriteForAnAccountKeepsTheStateOfOthers(_ kind: String) async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let open = kind == "delivery" ? try await world.claim(store) : nil
        if kind == "acknowledgement" { try await world.deliverAll(store) }
        let other = StreamKey(account: World.bob, server: World.server, poll: world.stream.poll)
        let state = try await store.polls.state(other, maxUndelivered: 1000)
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        switch kind {
        case "commit": try await world.commit(store, world.changes(4...4))
        case "claim": _ = try await world.claim(store)
        case "delivery":
            let ticket = try #require(open?.tickets.first)
            _ = try await store.deliveries.record(ticket, .ok, now: world.now, maxRetries: 3)
        case "acknowledgement": _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        case "eviction":
            let account = world.account
            _ = try await store.outbox.evict(
                .fifo,
                of: account,
                server: World.server,
                maxUndelivered: 1,
                now: world.now
            )
        case "stars":
            _ = try await store.stars.set(["plan"], of: world.account, server: World.server, now: world.now)
        case "settling":
            let (account, past) = (world.account, world.now - .days(1))
            try await store.deliveries.settleFutureTimes(
                of: account,
                now: past,
                local: past,
                lease: .zero,
                longestWait: .zero
            )
        default:
            let generation = try await store.identity.active().generation
            let top = world.id(9)
            _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: top, now: world.now)
        }
        #expect(remembered(store) == nil)
        #expect(store.polls.rememberedState(other, maxUndelivered: 1000) == state)
    }

    @Test(.enabled(if: World.isClear)) func aHostsDatabaseIsAlwaysRead() async throws {
        try await world.open().close()
        let store = try await world.open { $0.owner = .host }
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
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
            store.polls.recordUnchanged(cycle)
        }
        for stream in [world.stream, other] {
            let state = try await store.polls.state(stream, maxUndelivered: 1000)
            #expect(state.lastSuccess == world.now + .seconds(1))
            #expect(state.nextRun == world.now + .seconds(60))
        }
    }

    @Test func cyclesOfASecondShareAWrite() async throws {
        let witness = Witness()
        let queue = HeldQueue()
        let store = try await world.open { options in
            options.queue = queue
            options.observer = witness
        }
        var cycle = CycleRecord.make(world, .unchanged)
        cycle.nextRun = world.now + .seconds(60)
        store.polls.recordUnchanged(cycle)
        for second in 1...5 {
            cycle.successAt = world.now + .seconds(Double(second))
            cycle.nextRun = nil
            store.polls.recordUnchanged(cycle)
        }
        await store.untilIdle()
        #expect(queue.held.withLock(\.count) == 1)
        #expect(witness["finish_cycle"] == 0)
        queue.release()
        await store.untilIdle()
        #expect(witness["finish_cycle"] == 1)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.lastSuccess == world.now + .seconds(5))
        #expect(state.nextRun == world.now + .seconds(60))
        #expect(witness["finish_cycle"] == 1)
        await store.close()
    }

    @Test func aSnapshotShowsRecordedCycles() async throws {
        let store = try await world.open { $0.queue = HeldQueue() }
        _ = try await store.status.snapshot([world.stream])
        var cycle = CycleRecord.make(world, .unchanged)
        cycle.successAt = world.now + .seconds(1)
        store.polls.recordUnchanged(cycle)
        #expect(store.status.rememberedSnapshot([world.stream]) == nil)
        #expect(
            try await store.status.snapshot([world.stream]).streams[world.stream]?.lastSuccess == world.now
                + .seconds(1)
        )
        await store.close()
    }

    @Test func theEndOfTheStoreStoresRecordedCycles() async throws {
        let store = try await world.open { $0.queue = HeldQueue() }
        var cycle = CycleRecord.make(world, .unchanged)
        cycle.successAt = world.now + .seconds(1)
        store.polls.recordUnchanged(cycle)
        await store.close()
        let state = try await world.open().polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.lastSuccess == world.now + .seconds(1))
    }

    @Test func cyclesThatCouldNotBeStoredAreStoredWithTheNextAccess() async throws {
        let witness = Witness()
        let store = try await world.open { options in
            options.queue = HeldQueue()
            options.observer = witness
            options.interrupt = { operation, moment throws(StoreError) in
                if operation == .finishCycle, moment == .begun, witness["missed"] == 0 { throw .busy }
            }
        }
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        var cycle = CycleRecord.make(world, .unchanged)
        cycle.nextRun = world.now + .seconds(60)
        store.polls.recordUnchanged(cycle)
        _ = try await store.identity.active()
        #expect(witness["missed"] == 1)
        cycle.successAt = world.now + .seconds(5)
        cycle.nextRun = nil
        store.polls.recordUnchanged(cycle)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.lastSuccess == world.now + .seconds(5))
        #expect(state.nextRun == world.now + .seconds(60))
        await store.close()
    }

    @Test func aFailureToStoreACycleIsReported() async throws {
        let witness = Witness()
        let queue = HeldQueue()
        let store = try await world.open { options in
            options.queue = queue
            options.observer = witness
        }
        await store.close()
        store.polls.recordUnchanged(CycleRecord.make(world, .unchanged))
        queue.release()
        await store.untilIdle()
        #expect(witness["missed"] == 1)
    }
}

/// A store's queue that holds late work back.
private final class HeldQueue: StoreQueue {
    let held = Mutex<[@Sendable () -> Void]>([])
    private let queue = DispatchQueue(label: "held")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) { held.withLock { $0.append(work) } }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Runs what is held back.
    func release() {
        let works = held.withLock { held in
            defer { held = [] }
            return held
        }
        for work in works { run(work) }
    }
}

extension Store {
    /// Returns after all earlier work.
    fileprivate func untilIdle() async {
        await withCheckedContinuation { done in status.whenIdle { done.resume() } }
    }
}

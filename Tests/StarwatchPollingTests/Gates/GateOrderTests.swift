import Dispatch
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Synchronization
import Testing

@testable import StarwatchPolling

/// Requests that reach a gate while it is restored or moved.
@Suite(.timeLimit(.minutes(5))) final class GateOrderTests: GateBench {
    /// A store whose next operation of one kind waits for ``isFree``.
    private final class HeldStore: Sendable {
        /// The number of operations of the kind that have begun.
        let begun = Atomic(0)
        let isHeld = Promise<Void>()
        let isFree = DispatchSemaphore(value: 0)
        let isArmed = Atomic(false)
        let order = Mutex<[String]>([])
        private let kind: StoreOperation

        init(_ kind: StoreOperation = .server) { self.kind = kind }

        func open(_ path: String) throws -> Store {
            var options = StoreOptions(path: path)
            options.interrupt = { operation, moment throws(StoreError) in
                guard operation == self.kind, moment == .begun else { return }
                self.begun.add(1, ordering: .relaxed)
                guard self.isArmed.exchange(false, ordering: .relaxed) else { return }
                self.isHeld.fulfil(())
                self.isFree.wait()
                self.order.withLock { $0.append("stored") }
            }
            return try Store(options)
        }

        /// Runs `first` until its operation is held, then `second`, and then frees the operation.
        ///
        /// - Returns: The order in which the operation and `second` ended.
        func run(
            _ first: @escaping @Sendable () async -> Void,
            second: @escaping @Sendable () async -> Void
        ) async -> [String] {
            isArmed.store(true, ordering: .relaxed)
            return await withTaskGroup { group in
                group.addTask { await first() }
                await isHeld.value()
                group.addTask {
                    await second()
                    self.order.withLock { $0.append("second") }
                }
                for _ in 0..<1000 { await Task.yield() }
                isFree.signal()
                await group.waitForAll()
                return order.withLock { $0 }
            }
        }
    }

    /// Otherwise the next sender would read the window before the write, which would then replace a newer one.
    @Test func anAccountStaysAtItsGateUntilItsWindowIsStored() async throws {
        await store.close()
        let held = HeldStore(.finishCycle)
        let gate = makeGate(requests: 40, on: try held.open(folder.path("starwatch.db")))
        let (account, now) = (TestAccount.key, ManualClock.start)
        let sender = await gate.enter(account)
        #expect(try await gate.pass(sender, now: now) == .go)
        held.isArmed.store(true, ordering: .relaxed)
        async let shift: Void = gate.shift(by: .seconds(5), now: now + .seconds(5))
        await held.isHeld.value()
        await gate.leave(sender, now: now + .seconds(5))
        let next = await gate.enter(account)
        #expect(next.requests === sender.requests)
        await gate.leave(next, now: now + .seconds(5))
        held.isFree.signal()
        await shift
        // It has left after that.
        let last = await gate.enter(account)
        #expect(last.requests !== sender.requests)
        #expect(try await gate.pass(last, now: now + .seconds(5)) == .go)
        #expect(await gate.remaining(now: now + .seconds(5)) == 40 - 2)
        await gate.store?.close()
    }

    /// An account can leave while another one's window is stored, and be claimed elsewhere.
    @Test func theWindowOfAnAccountThatHasLeftIsNotStored() async throws {
        await store.close()
        let held = HeldStore(.finishCycle)
        let gate = makeGate(requests: 40, on: try held.open(folder.path("starwatch.db")))
        let (now, later) = (ManualClock.start, ManualClock.start + .seconds(5))
        var senders: [Sender] = []
        for account in [TestAccount.key, TestAccount.ethr].sorted(by: { $0.rawValue < $1.rawValue }) {
            senders.append(await gate.enter(account))
            #expect(try await gate.pass(senders.last!, now: now) == .go)
        }
        let leaving = senders[1]
        held.isArmed.store(true, ordering: .relaxed)
        async let shift: Void = gate.shift(by: .seconds(5), now: later)
        await held.isHeld.value()
        await gate.leave(leaving, now: later)
        // As the next owner of the account does.
        async let newer: Void? = gate.store?.polls.setRequestWindow([7], of: leaving.account!, spentAt: later)
        for _ in 0..<1000 { await Task.yield() }
        held.isFree.signal()
        await shift
        try await newer
        #expect(try await gate.store?.polls.requestWindow(of: leaving.account!) == [7])
        await gate.store?.close()
    }

    @Test func whoComesDuringAClockJumpWaitsUntilTheGatesHaveMoved() async throws {
        await store.close()
        let held = HeldStore()
        let other = try held.open(folder.path("starwatch.db"))
        let clock = ManualClock()
        let gates = Gates(store: other, requestsPerMinute: 10, time: clock)
        let gate = gates.gate(to: server)
        await gate.hold(until: clock.now + .seconds(600), now: clock.now)
        clock.setWall(to: clock.now + .seconds(3600))
        let order = await held.run {
            await gates.followClock()
        } second: {
            await gates.followClock()
        }
        #expect(order == ["stored", "second"])
        #expect(gates.jumps == 1)
        #expect(await gate.hold(now: clock.now)?.until == ManualClock.start + .seconds(4200))
        await other.close()
    }

    @Test func noRequestGoesThroughAHalfRestoredGate() async throws {
        let start = ManualClock.start
        _ = try await store.servers.rememberDialect(.endorser, of: server, now: start)
        await store.close()
        let held = HeldStore()
        let other = try held.open(folder.path("starwatch.db"))
        let gate = canonicalGate(on: other)
        let order = await held.run {
            try? await gate.restore(now: start)
        } second: {
            let ticket = TicketQueue.Ticket()
            _ = try? await gate.turn(account: nil, ticket: ticket, now: start)
        }
        #expect(order == ["stored", "second"])
        await other.close()
    }

    @Test func aRestorationThatFailedHalfwayIsCompletedByTheNextRequest() async throws {
        let start = ManualClock.start
        _ = try await store.servers.rememberDialect(.endorser, of: server, now: start)
        await store.close()
        let fault = StoreFault()
        var options = StoreOptions(path: folder.path("starwatch.db"))
        options.interrupt = fault.interrupt
        let other = try Store(options)
        let gate = canonicalGate(on: other)
        fault.fail(.server)
        await #expect(throws: StoreError.self) { try await gate.restore(now: start) }
        fault.fail()
        try await gate.restore(now: start)
        #expect(try await other.servers.state(server).dialect == .canonical)
        await other.close()
    }

    /// The store counts the requests of an interrupted visit for the first load only. A second one could come first.
    @Test func requestsThatNeedAWindowTogetherLoadItOnce() async throws {
        await store.close()
        let held = HeldStore(.read)
        let other = try held.open(folder.path("starwatch.db"))
        let (gate, start) = (makeGate(on: other), ManualClock.start)
        try await gate.restore(now: start)
        let before = held.begun.load(ordering: .relaxed)
        let request = { @Sendable () async -> Void in
            let turn = try? await gate.turn(account: TestAccount.key, ticket: TicketQueue.Ticket(), now: start)
            #expect(turn == .go)
        }
        _ = await held.run(request, second: request)
        #expect(held.begun.load(ordering: .relaxed) == before + 1)
        await other.close()
    }

    private func canonicalGate(on store: Store) -> Gate {
        Gate(server: server, limits: GateLimits(requestsPerMinute: 10), dialect: .canonical, store: store)
    }
}

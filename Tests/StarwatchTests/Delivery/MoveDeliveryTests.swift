import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Synchronization
import Testing

@testable import Starwatch

/// An account that moves to another agent while a sink has a notification of it.
@Suite(.timeLimit(.minutes(5))) struct MoveDeliveryTests {
    private struct Unexpected: Error {}

    /// Whether an export waits for a sink.
    private static func mustWait(_ store: Store, at now: Timestamp) async throws -> Bool {
        switch try await store.moves.handOut(nil, isTrial: false, now: now) {
        case .delivering: true
        case .text: false
        default: throw Unexpected()
        }
    }

    /// Makes two notifications that wait for the sink and are due again.
    private static func holdTwo(_ bench: Bench) async {
        bench["slow"].script(.down)
        for _ in 0..<2 {
            await bench.fetch(1)
            await bench.dispatch()
        }
        bench.clock.advance(by: .seconds(600))
        bench["slow"].forget()
    }

    /// A sink's timeout can be longer than the lease of its notification.
    @Test func anAttemptLongerThanItsLeaseIsWaitedFor() async throws {
        try await Bench.run(sinks: ["slow"]) { bench in
            let (store, clock, waits) = (bench.agent.store, bench.clock, Count())
            bench["slow"].before { _ in
                clock.advance(by: .seconds(600))
                if (try? await Self.mustWait(store, at: clock.now)) == true { waits.add() }
            }
            await bench.fetch(1)
            await bench.dispatch()
            #expect(waits.value == 1)
            #expect(try await bench.rows(.delivered).count == 1)
            let mustWait = try await Self.mustWait(store, at: clock.now)
            #expect(!mustWait)
        }
    }

    /// The notification goes with the account, and its new agent sends it.
    @Test func noFurtherNotificationIsSentWhileTheAccountLeaves() async throws {
        try await Bench.run(sinks: ["slow"]) { bench in
            await Self.holdTwo(bench)
            let (store, clock) = (bench.agent.store, bench.clock)
            bench["slow"].before { _ in _ = try? await Self.mustWait(store, at: clock.now) }
            await bench.dispatch()
            #expect(bench["slow"].seen.count == 1)
        }
    }

    /// Otherwise it would come when the lease of the attempt ends that was refused meanwhile.
    @Test func anAccountThatStaysAfterAllGetsItsNextNotificationAtOnce() async throws {
        try await Bench.run(sinks: ["slow"]) { bench async throws in
            await Self.holdTwo(bench)
            let (store, clock) = (bench.agent.store, bench.clock)
            bench["slow"].before { _ in _ = try? await Self.mustWait(store, at: clock.now) }
            await bench.dispatch()
            #expect(bench["slow"].seen.count == 1)
            bench["slow"].before(nil)
            store.moves.stay(Bench.did)
            await bench.dispatch()
            #expect(bench["slow"].seen.count == 2)
            #expect(try await bench.counts() == [.delivered: 2])
        }
    }

    /// Otherwise each export could show a database that does not work.
    @Test func anAccountThatLeavesWhileAnAttemptIsPutOffIsNoFailure() async throws {
        let (fault, leaving) = (StoreFault(), Count())
        var dependencies = AgentDependencies()
        dependencies.store = { options in
            options.interrupt = { (operation, moment) throws(StoreError) in
                try fault.interrupt(operation, moment)
                // The export waits for the result of the first attempt only.
                guard operation == .delivery, moment == .ended, leaving.value > 0 else { return }
                fault.fail(.delivery, with: .leaseLost)
            }
        }
        try await Bench.run(sinks: ["slow"], dependencies: dependencies) { bench async throws in
            await Self.holdTwo(bench)
            let (store, clock) = (bench.agent.store, bench.clock)
            bench["slow"].before { _ in
                leaving.add()
                _ = try? await Self.mustWait(store, at: clock.now)
            }
            let pass = await bench.dispatch()
            #expect(bench["slow"].seen.count == 1)
            #expect(!pass.hasFailed && !store.health.failsSomePart)
        }
    }

    @Test func anExportThatWaitsIsNeverOfAnIdentityThatWasSetMeanwhile() async throws {
        try await Bench.run(sinks: ["slow"]) { bench async throws in
            let (agent, clock) = (bench.agent, bench.clock)
            let server = bench.stream.server
            let export = Mutex<Task<AccountExportReport, any Error>?>(nil)
            bench["slow"].before { _ in
                let task = Task { try await agent.perform(ControlAPI.exportAccount, AccountExport()) }
                export.withLock { $0 = task }
                // It waits for this attempt.
                await clock.sleepers(atLeast: 1)
                let now = clock.now
                _ = try? await agent.store.identity.set(TestAccount.ethr, server: server, now: now)
            }
            await bench.fetch(1)
            await bench.dispatch()
            guard let task = export.withLock({ $0 }) else {
                Issue.record("The sink got nothing.")
                return
            }
            clock.advance(by: .seconds(1))
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(try await agent.store.identity.active().did == TestAccount.ethr)
        }
    }
}

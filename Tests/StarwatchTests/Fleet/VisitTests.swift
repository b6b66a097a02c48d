import MockEndorser
import StarwatchCore
import StarwatchPolling
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchStore

/// The parts of an account's work side by side.
@Suite(.timeLimit(.minutes(5))) struct VisitTests {
    /// The turns and stops of parts, in their order.
    private final class Calls: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ call: String) { all.withLock { $0.append(call) } }
        var list: [String] { all.withLock { $0 } }
        func count(_ call: String) -> Int { list.count { $0 == call } }
    }

    private let calls = Calls()

    private func part(
        _ name: VisitPart.Name,
        wake: Wake? = nil,
        finishes: Bool = false,
        _ turn: @escaping @Sendable () async -> Timestamp?
    ) -> VisitPart {
        let cancel: @Sendable () async -> Void = { [calls] in calls.add("cancel \(name)") }
        return VisitPart(
            name: name,
            wake: wake,
            executor: nil,
            turn: { [calls] in
                calls.add("\(name)")
                return await turn()
            },
            cancel: finishes ? nil : cancel
        )
    }

    private static func lease(of did: DID) -> AccountLease {
        AccountLease(
            account: did,
            generation: 1,
            epoch: 1,
            owner: "owner",
            dueAt: ManualClock.start,
            wasReleased: true,
            hasOpenRows: true
        )
    }

    private func visit(
        _ agent: Agent,
        of world: World,
        memory: Visit.Memory = [:],
        _ parts: [VisitPart]
    ) async -> Visit.End {
        await Visit(of: agent.runtime, Self.lease(of: world.did), memory: memory, polls: [], parts: parts) { .all }
            .run()
    }

    /// Lets a visit last while `body` lets time pass, then stops it.
    private func lasting(
        _ parts: (AccountRuntime) -> [VisitPart],
        _ body: (World, AccountRuntime) async throws -> Void
    ) async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let runtime = try await world.agent().runtime
            let visit = SoleVisit(of: runtime, polls: [], parts: parts(runtime))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await visit.run() }
                try await body(world, runtime)
                group.cancelAll()
            }
        }
    }

    @Test func aPartThatHangsHoldsUpNoOther() async throws {
        let never = Promise<Void>()
        try await lasting { runtime in
            [
                part(.delivery) {
                    _ = await never.value()
                    return nil
                },
                part(.digests) { runtime.process.environment.time.now + .seconds(10) },
            ]
        } _: { world, _ in
            await world.clock.run(until: ManualClock.start + .seconds(25))
            await world.clock.sleepers(atLeast: 1)
            #expect(calls.count("digests") == 3)
            #expect(calls.count("delivery") == 1)
        }
    }

    /// Also one that comes while the part is at work.
    @Test func aWakeBringsATurn() async throws {
        let (began, ends) = (Signal(), Signal())
        try await lasting { runtime in
            [
                part(.acknowledgement, wake: runtime.wakes.acknowledge) {
                    began.raise()
                    await ends.wait()
                    return nil
                }
            ]
        } _: { _, runtime in
            for _ in 0..<3 {
                await began.wait()
                runtime.wakes.acknowledge.raise()
                ends.raise()
            }
            await began.wait()
            ends.raise()
            #expect(calls.count("acknowledgement") == 4)
        }
    }

    @Test func aClockThatIsSetBackKeepsNoPartWaiting() async throws {
        try await lasting { runtime in
            [part(.digests) { runtime.process.environment.time.now + .seconds(3600) }]
        } _: { world, _ in
            await world.clock.sleepers(atLeast: 1)
            world.clock.setWall(to: ManualClock.start - .seconds(30 * 86_400))
            world.clock.advance(by: .seconds(30))
            await world.clock.sleepers(atLeast: 1)
            #expect(calls.count("digests") == 2)
        }
    }

    @Test func theVisitOfALeasedAccountEndsWhenNothingIsDueAndSaysWhatIsNext() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let (soon, late) = (ManualClock.start + .seconds(60), ManualClock.start + .seconds(3600))
            let end = await visit(agent, of: world, [part(.delivery) { late }, part(.acknowledgement) { soon }])
            #expect(end.next == soon)
            #expect(end.memory == [.delivery: late, .acknowledgement: soon])
            #expect(calls.list.sorted() == ["acknowledgement", "delivery"])
        }
    }

    /// The visit has given its place to another that polls.
    @Test func aPollThatBecomesDueDuringTheDeliveryIsForTheNextVisit() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent()
            let (name, wakes) = (VisitPart.Name.poll(PollName("test")!), agent.runtime.wakes)
            let (began, ends, acknowledges) = (Signal(), Signal(), Signal())
            let due = ManualClock.start + .seconds(60)
            let parts = [
                part(name) { due },
                part(.delivery) {
                    began.raise()
                    await ends.wait()
                    return nil
                },
                part(.acknowledgement, wake: wakes.acknowledge) {
                    acknowledges.raise()
                    return nil
                },
            ]
            let polled = Signal()
            let visit = Task {
                await Visit(of: agent.runtime, Self.lease(of: world.did), polls: [], parts: parts) {
                    .all
                } hasPolled: {
                    polled.raise()
                }.run()
            }
            await began.wait()
            await polled.wait()
            await acknowledges.wait()
            world.clock.advance(by: .seconds(120))
            // The visit looks at its parts again.
            wakes.acknowledge.raise()
            await acknowledges.wait()
            ends.raise()
            #expect(await visit.value.next == due)
            #expect(calls.count("\(name)") == 1)
        }
    }

    /// Otherwise the digests of all accounts would ask the server at once, and each would wait beyond its time. Those with content
    /// from elsewhere keep no poll waiting.
    @Test(arguments: [true, false]) func aPartKeepsThePlaceOfThePollsOnlyIfItPolls(polls: Bool) async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent()
            let (began, polled, ends) = (Signal(), Signal(), Signal())
            var digests = part(.digests) {
                began.raise()
                await ends.wait()
                return nil
            }
            digests.polls = polls
            let visit = Task { [digests, calls] in
                await Visit(of: agent.runtime, Self.lease(of: world.did), polls: [], parts: [digests]) {
                    .all
                } hasPolled: {
                    calls.add("given")
                    polled.raise()
                }.run()
            }
            await began.wait()
            if !polls { await polled.wait() }
            #expect(calls.count("given") == (polls ? 0 : 1))
            ends.raise()
            _ = await visit.value
            #expect(calls.count("given") == 1)
        }
    }

    /// So that it does not keep others waiting.
    @Test func aPartThatIsAlwaysDueLeavesTheRestToTheNextVisit() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let end = await visit(agent, of: world, [part(.delivery) { ManualClock.start }])
            #expect(calls.count("delivery") == 20)
            #expect(end.next == ManualClock.start)
        }
    }

    /// What the last poll has brought is delivered and acknowledged.
    @Test func aStopCancelsSomePartsAndGivesTheOthersALastTurn() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let isStopping = Atomic(false)
            let parts = [
                part(.digests) {
                    isStopping.store(true, ordering: .relaxed)
                    return nil
                },
                part(.delivery, finishes: true) { nil }, part(.acknowledgement, finishes: true) { nil },
                part(.callbacks) { nil },
            ]
            _ = await Visit(of: agent.runtime, polls: [], parts: parts) {
                isStopping.load(ordering: .relaxed) ? .stop : .all
            }.run()
            let list = calls.list
            let order = ["cancel digests", "delivery", "acknowledgement", "cancel callbacks"].map {
                list.lastIndex(of: $0)
            }
            #expect(
                order.compactMap(\.self).count == 4 && order.compactMap(\.self) == order.compactMap(\.self).sorted()
            )
            #expect(calls.count("cancel digests") == 1 && calls.count("delivery") >= 2)
        }
    }
}

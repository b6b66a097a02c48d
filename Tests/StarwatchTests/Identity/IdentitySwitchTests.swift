import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// The identity changes while something of the former one is under way.
@Suite(.timeLimit(.minutes(5))) struct IdentitySwitchTests {
    private static let newcomer = DID("did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH")!

    /// Nothing of the former identity waits, was acknowledged, or moved a watermark; and the books balance.
    private func expectNothingLeft(_ bench: Bench, acknowledged: Int = 0) async throws {
        let counts = try await bench.counts()
        for state in [OutboxState.pending, .claimed, .evicted] { #expect(counts[state] == nil, "\(state)") }
        #expect(counts[.acknowledged] ?? 0 == acknowledged)
        #expect(try await bench.imbalance() == 0)
        let requests = bench.mock.requests().count
        _ = await bench.dispatch()
        _ = await bench.acknowledge()
        #expect(bench.mock.requests().count == requests)
    }

    @Test(arguments: [IdentitySwitchTests.newcomer, nil], [1, 2, 3])
    func aCycleIsGivenUpAtAnyOfItsRequests(next: DID?, at number: Int) async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            bench.mock.publish(count: 250)
            for _ in 1..<number { bench.mock.script(.delay(.zero), at: .plansChanged) }
            bench.mock.script(.neverAnswer, at: .plansChanged)
            let agent = bench.agent
            async let cycle = agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
            try await bench.mock.waitForRequests(number, to: .plansChanged)
            _ = try await agent.setIdentity(next)
            #expect(bench.mock.requestCount(of: .plansChanged) == number)
            #expect(await cycle.outcome == .cancelled)
            #expect(try await bench.counts()[.cancelled] ?? 0 == (number - 1) * 100)
            let state = try await agent.store.polls.state(bench.stream, maxUndelivered: 1000)
            #expect(!state.isActive)
            try await expectNothingLeft(bench)
            #expect(bench["a"].seen.isEmpty)
            let skip = await bench.poll().skip
            #expect(skip == (next == nil ? .noIdentity : .noStars))
        }
    }

    @Test func aCycleThatWaitsItsTurnAsksNothing() async throws {
        try await Bench.run(sinks: ["a"], configure: { options, _, _ in options.limits.requestsPerMinute = 1 }) {
            bench in
            bench.mock.publish(count: 150)
            let agent = bench.agent
            async let cycle = agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
            // The first page was had; the second waits for the next minute.
            await bench.clock.sleepers(atLeast: 1)
            _ = try await agent.setIdentity(Self.newcomer)
            #expect(await cycle.outcome == .cancelled)
            bench.clock.advance(by: .seconds(120))
            #expect(bench.mock.requestCount(of: .plansChanged) == 1)
            #expect(try await bench.counts() == [.cancelled: 100])
            try await expectNothingLeft(bench)
        }
    }

    @Test(arguments: [SinkResult.down, .timeout, .ok])
    func aDeliveryIsGivenUpAndTheNextOneNotBegun(answer: SinkResult) async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            // Two notifications that wait for the sink.
            bench["a"].script(.down)
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(3600))
            await bench.fetch(1)
            let tried = bench.attempts("a", .unavailable)
            let (clock, agent, dispatcher) = (bench.clock, bench.agent, bench.dispatcher)
            bench["a"].before { _ in try? await clock.sleep(for: .seconds(1000)) }
            bench["a"].answer(answer)
            // The bench's dispatcher is the one with the scripted sinks.
            async let pass = dispatcher.pass()
            await clock.sleepers(atLeast: 1)
            _ = try await agent.store.identity.set(Self.newcomer, server: bench.mock.url, now: clock.now)
            agent.runtime.account.identity.invalidate()
            await dispatcher.abort()
            #expect(bench["a"].seen.count == 2)
            #expect(await pass.delivered == 0)
            bench["a"].before(nil)
            _ = await dispatcher.pass()
            #expect(bench["a"].seen.count == 2)
            // A cancelled attempt does not count against the sink.
            #expect(bench.attempts("a", .unavailable) == tried)
            #expect(bench.attempts("a", .timeout) == 0)
            #expect(try await bench.counts() == [.cancelled: 2])
            try await expectNothingLeft(bench)
        }
    }

    @Test func aRequestToASinkIsAbortedBeforeTheChangeReturns() async throws {
        try await Bench.run(configure: { options, mock, _ in
            let kind = SinkOptions.Kind.webhook(url: mock.url + "/hook", secretFile: nil, timeout: .seconds(60))
            options.delivery.sinks = [SinkOptions(name: "hook", kind: kind)]
        }) { bench in
            await bench.fetch(2)
            bench.mock.script(.neverAnswer, at: .hook)
            let agent = bench.agent
            async let pass = agent.runtime.dispatcher.pass()
            try await bench.mock.waitForRequests(1, to: .hook)
            _ = try await agent.setIdentity(Self.newcomer)
            // It has ended: a pass that begins now does not wait its turn.
            #expect(await agent.runtime.dispatcher.pass() == DispatchService.Pass())
            #expect(await pass.delivered == 0)
            #expect(bench.mock.receivedNotifications.isEmpty)
            for result in SinkAttemptResult.allCases { #expect(bench.attempts("hook", result) == 0) }
            #expect(try await bench.counts() == [.cancelled: 2])
        }
    }

    @Test(arguments: [IdentitySwitchTests.newcomer, nil], [1, 2, 3])
    func anAcknowledgementIsGivenUpAtAnyBatch(next: DID?, at number: Int) async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            await bench.fetch(250)
            await bench.dispatch()
            for _ in 1..<number { bench.mock.script(.delay(.zero), at: .acknowledge) }
            bench.mock.script(.neverAnswer, at: .acknowledge)
            let agent = bench.agent
            async let pass = agent.runtime.acknowledger.pass()
            try await bench.mock.waitForRequests(number, to: .acknowledge)
            let watermark = try await bench.watermark()
            _ = try await agent.setIdentity(next)
            let cancelled = ["endpoint": "acknowledge", "result": "cancelled"]
            #expect(await agent.page()["starwatch_api_requests_total", cancelled] == 1)
            #expect(await pass.acknowledged == (number - 1) * 100)
            #expect(bench.mock.requestCount(of: .acknowledge) == number)
            #expect(try await bench.watermark() == watermark)
            try await expectNothingLeft(bench, acknowledged: (number - 1) * 100)
            bench.clock.advance(by: .seconds(3600))
            #expect(await bench.acknowledge() == AcknowledgeService.Pass())
            #expect(bench.mock.requestCount(of: .acknowledge) == number)
        }
    }

    @Test func anAcknowledgementThatWaitsItsTurnIsNotSent() async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            await bench.fetch(3)
            await bench.dispatch()
            let (agent, clock) = (bench.agent, bench.clock)
            await agent.runtime.account.gate.hold(until: clock.now + .seconds(60), now: clock.now)
            async let pass = agent.runtime.acknowledger.pass()
            await clock.sleepers(atLeast: 1)
            _ = try await agent.setIdentity(Self.newcomer)
            #expect(await pass.acknowledged == 0)
            clock.advance(by: .seconds(120))
            #expect(bench.mock.requestCount(of: .acknowledge) == 0)
            try await expectNothingLeft(bench)
        }
    }

    @Test func aPassThatWaitsForTheOneBeforeItIsGivenUpToo() async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            await bench.fetch(3)
            await bench.dispatch()
            bench.mock.script(.neverAnswer, at: .acknowledge)
            let agent = bench.agent
            async let first = agent.runtime.acknowledger.pass()
            async let second = agent.runtime.acknowledger.pass()
            try await bench.mock.waitForRequests(1, to: .acknowledge)
            _ = try await agent.setIdentity(Self.newcomer)
            #expect(await (first.acknowledged, second.acknowledged) == (0, 0))
            #expect(bench.mock.requestCount(of: .acknowledge) == 1)
        }
    }

    @Test func switchesAtOnceDuringACycleAreMadeOneAfterTheOther() async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            bench.mock.publish(count: 3)
            bench.mock.script(.neverAnswer, at: .plansChanged)
            let agent = bench.agent
            async let cycle = agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
            try await bench.mock.waitForRequests(1, to: .plansChanged)
            let before = try await agent.perform(ControlAPI.showIdentity).generation
            let dids: [DID?] = [Self.newcomer, nil, Bench.did, World.key, nil, World.other]
            let generations = try await withThrowingTaskGroup(of: Int.self) { group in
                for did in dids { group.addTask { try await agent.setIdentity(did).generation } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }.sorted()
            }
            // Each saw a state of its own, or that its identity was active already.
            let after = try await agent.perform(ControlAPI.showIdentity).generation
            #expect(generations.last == after)
            #expect(generations.allSatisfy { (before...after).contains($0) })
            #expect(await cycle.new == 0)
            try await expectNothingLeft(bench)
        }
    }

    @Test func starsAreArchivedAndComeBackWhenTheirOwnerAsksForThem() async throws {
        try await Bench.run(sinks: ["a"]) { bench in
            let agent = bench.agent
            let stars = try await agent.stars()
            _ = try await agent.setIdentity(Self.newcomer)
            #expect(try await agent.stars().isEmpty)
            #expect(try await agent.perform(ControlAPI.listArchivedStars).archived.isEmpty)
            #expect(try await agent.changeStars(StarsChange(operation: .restore, planIDs: [])).isEmpty)
            _ = try await agent.setIdentity(Bench.did)
            #expect(try await agent.stars().isEmpty)
            #expect(try await agent.perform(ControlAPI.listArchivedStars).archived.map(\.planIDs) == [stars])
            #expect(try await agent.changeStars(StarsChange(operation: .restore, planIDs: [])) == stars)
            #expect(try await agent.stars() == stars)
        }
    }
}

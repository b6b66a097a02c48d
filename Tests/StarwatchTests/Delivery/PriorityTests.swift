import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Which poll's changes come first, and which leave first.
@Suite struct PriorityTests {
    private static func addUrgentOffers(_ options: inout AgentOptions, _ folder: TestFolder) {
        var offers = PollOptions(name: PollName("offers")!, kind: .offersToMe)
        offers.bootstrap = .beginning
        offers.priority = 1
        options.polls.append(offers)
        options.useTokens(in: folder)
    }

    private func fetchOffers(_ count: Int, _ bench: Bench) async {
        bench.mock.publishOffers(count: count, to: Bench.did.rawValue)
        _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[1], runID: "run_offers")
    }

    @Test func changesOfThePollWithTheHigherPriorityAreDeliveredFirst() async throws {
        try await Bench.run(sinks: ["first"], configure: { Self.addUrgentOffers(&$0, $2) }) {
            (bench: Bench) async throws in
            await bench.fetch(1)
            bench.clock.advance(by: .seconds(5))
            await fetchOffers(1, bench)
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.poll) == ["offers", "starred_projects"])
        }
    }

    @Test func whatWaitedForASinkIsNoMoreUrgentForIt() async throws {
        try await Bench.run(sinks: ["first"], configure: { Self.addUrgentOffers(&$0, $2) }) {
            (bench: Bench) async throws in
            // Its circuit opens, so that the next notification waits without having been tried.
            bench["first"].answer(.down)
            await bench.fetch(1)
            await bench.dispatch()
            while bench.slot("first").circuit.state != .open {
                bench.clock.advance(by: .seconds(8))
                await bench.dispatch()
            }
            await bench.fetch(1)
            await bench.dispatch()
            let tries = bench["first"].seen.count
            await fetchOffers(1, bench)
            bench["first"].answer(.ok)
            bench.clock.advance(by: .seconds(120))
            await bench.dispatch()
            await bench.dispatch()
            #expect(bench["first"].seen.dropFirst(tries).map(\.poll).first == "offers")
        }
    }

    @Test(arguments: [
        (EvictionPolicy.fifo, true, "starred_projects"), (.priority, true, "offers"),
        (.lifo, false, "starred_projects"), (.priority, false, "offers"),
    ])
    func aFullOutboxKeepsWhatItsPolicySays(policy: EvictionPolicy, urgentAreOldest: Bool, kept: String) async throws {
        try await Bench.run(sinks: ["first"], configure: { Self.addUrgentOffers(&$0, $2) }) {
            (bench: Bench) async throws in
            if urgentAreOldest { await fetchOffers(10, bench) } else { await bench.fetch(10) }
            bench.clock.advance(by: .seconds(60))
            if urgentAreOldest { await bench.fetch(10) } else { await fetchOffers(10, bench) }
            try await bench.restart {
                $0.outbox.maxUndelivered = 10
                $0.outbox.eviction = policy
            }
            #expect(try await bench.rows(.pending).map(\.poll) == Array(repeating: kept, count: 9))
            #expect(try await bench.rows(.evicted).count == 11)
        }
    }
}

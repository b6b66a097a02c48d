import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchPolling

@Suite struct CircuitTests {
    private let target = ["target": "server"]

    private func transitions(_ page: MetricsPage, _ to: CircuitState) -> Double? {
        page["starwatch_circuit_transitions_total", ["target": "server", "to": to.rawValue]]
    }

    @Test func fiveFailedCyclesOpenItAndAProbeClosesIt() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(.status(500), at: .plansChanged)
            for cycle in 1...5 {
                #expect(await agent.page()["starwatch_circuit_state", target] == 0)
                #expect(try await agent.runPoll(World.starred).outcome == "failed")
                #expect(world.mock.requestCount(of: .plansChanged) == cycle * 3)
            }
            var page = await agent.page()
            #expect(page["starwatch_circuit_state", target] == 2)
            #expect(transitions(page, .open) == 1)
            #expect(await agent.state().reasons.contains("server_unreachable"))

            world.clock.advance(by: .milliseconds(59_999))
            let skipped = try await agent.runPoll(World.starred)
            #expect(skipped.reason == "circuit_open")
            #expect(world.mock.requestCount(of: .plansChanged) == 15)

            world.clock.advance(by: .milliseconds(1))
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            page = await agent.page()
            #expect(page["starwatch_circuit_state", target] == 2)
            #expect(transitions(page, .halfOpen) == 1)
            #expect(transitions(page, .open) == 2)

            world.mock.clearFaults()
            world.clock.advance(by: .seconds(60))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            page = await agent.page()
            #expect(page["starwatch_circuit_state", target] == 0)
            #expect(transitions(page, .closed) == 1)
        }
    }

    @Test func aGoodCycleInBetweenStartsTheCountAnew() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            for _ in 0..<3 {
                world.mock.setStickyFault(.status(500), at: .plansChanged)
                for _ in 0..<4 { _ = try await agent.runPoll(World.starred) }
                world.mock.clearFaults()
                _ = try await agent.runPoll(World.starred)
            }
            #expect(transitions(await agent.page(), .open) == 0)
        }
    }

    @Test(arguments: [
        MockFault.malformedJSON, .schemaViolation(.missingJWTID), .status(404), .rateLimited(retryAfter: .seconds(121)),
    ])
    func whatDoesNotSayThatTheServerIsDownDoesNotOpenIt(fault: MockFault) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].quarantineInvalid = .never }
            world.mock.setStickyFault(fault, at: .plansChanged)
            for _ in 0..<7 {
                let report = try await agent.runPoll(World.starred)
                #expect(["failed", "deferred"].contains(report.outcome))
                world.clock.advance(by: .seconds(200))
            }
            let page = await agent.page()
            #expect(page["starwatch_circuit_state", target] == 0)
            #expect(transitions(page, .open) == 0)
        }
    }

    /// A probe that waits for the agent's own limit says nothing about the server.
    @Test func aProbeThatIsNotSentLeavesTheCircuitOpen() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.limits.requestsPerMinute = 1 }
            let gate = agent.runtime.account.gate
            for _ in 0..<5 {
                #expect(await gate.begin(now: world.clock.now))
                await gate.end(.serverError, now: world.clock.now)
            }
            world.clock.advance(by: .seconds(60))
            // Three requests wait before it, so its turn comes too late for a cycle.
            #expect(try await gate.pass(account: world.did, now: world.clock.now) == .go)
            for _ in 0..<3 {
                let ticket = TicketQueue.Ticket()
                #expect(try await gate.turn(account: world.did, ticket: ticket, now: world.clock.now) != .go)
            }
            #expect(await agent.cycle().outcome == .deferred)
            #expect(world.mock.requestCount(of: .plansChanged) == 0)
            #expect(await gate.circuit.state == .open)
        }
    }
}

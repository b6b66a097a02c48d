import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// An answer without content is an empty answer (R-POLL-17).
@Suite struct NoContentTests {
    @Test(arguments: MockDialect.allCases, [Validation.lenient, .strict])
    func anAnswerWithoutContentIsAnEmptyPage(dialect: MockDialect, validation: Validation) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent {
                $0.useTokens(in: world.folder)
                $0.polls[0].validation = validation
                var poll = PollOptions(name: PollName("offers")!, kind: .offersToMe)
                poll.validation = validation
                $0.polls.append(poll)
            }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try await agent.runPoll("offers").outcome == "bootstrapped")
            let known = agent.runtime.account.gate.known.dialect
            #expect(known?.rawValue == dialect.rawValue)
            world.mock.script(.status(204), at: .plansChanged)
            world.mock.script(.status(204), at: .offersToMe)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(try await agent.runPoll("offers").outcome == "unchanged")
            #expect(agent.runtime.account.gate.known.dialect == known)
            let ids = world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(try world.announced == ids)
        }
    }

    /// It says neither which dialect the server speaks nor where its changes end.
    @Test(arguments: MockDialect.allCases)
    func aFirstAnswerWithoutContentDecidesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            world.mock.publish(count: 3)
            world.mock.script(.status(204), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(agent.runtime.account.gate.known.dialect == nil)
            #expect(try await !agent.state(of: world.did).bootstrapped)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try world.announced.isEmpty)
        }
    }
}

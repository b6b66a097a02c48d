import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct DialectTests {
    @Test(arguments: MockDialect.allCases, [0, 3])
    func autoFindsTheDialectInTheFirstAnswerAndRemembersIt(dialect: MockDialect, changes: Int) async throws {
        try await World.with(dialect) { world in
            world.mock.publish(count: changes)
            var agent = try await world.agent()
            #expect(await agent.caller.gate.dialect == nil)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(await agent.caller.gate.dialect?.rawValue == dialect.rawValue)
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            agent = try await world.agent()
            #expect(await agent.caller.gate.dialect?.rawValue == dialect.rawValue)
        }
    }

    @Test(arguments: MockDialect.allCases, [0, 3])
    func offersFindTheSameDialect(dialect: MockDialect, offers: Int) async throws {
        try await World.with(dialect) { world in
            world.mock.publishOffers(count: offers, to: world.did.rawValue)
            let ids = world.mock.publish(count: 2)
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].validation = .strict
                var poll = PollOptions(name: PollName("offers")!, kind: .offersToMe)
                poll.bootstrap = .beginning
                poll.validation = .strict
                $0.polls.append(poll)
            }
            #expect(try await agent.runPoll("offers").new == offers)
            #expect(await agent.caller.gate.dialect?.rawValue == (offers == 0 ? nil : dialect.rawValue))
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(await agent.caller.gate.dialect?.rawValue == dialect.rawValue)
            #expect(try await agent.runPoll("offers").outcome == "unchanged")
            #expect(try world.announced.suffix(2) == ids[...])
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aWrongFixedDialectFailsAndChangesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let ids = world.mock.publish(count: 3)
            let wrong = try await world.agent {
                $0.server.dialect = dialect == .canonical ? .endorser : .canonical
                $0.polls[0].bootstrap = .beginning
            }
            #expect(try await wrong.runPoll(World.starred).outcome == "failed")
            let state = try await wrong.state(of: world.did)
            #expect(!state.bootstrapped)
            #expect(state.fetchCursor == nil)
            #expect(state.walk == nil)
            #expect(state.lastSuccess == nil)
            #expect(try await wrong.rows(Set(OutboxState.allCases)).isEmpty)
            let page = await wrong.page()
            #expect(
                page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "id_kind"]] == 1
            )
            #expect(page["starwatch_poll_failure_total", ["poll": World.starred]] == 1)

            let right = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await right.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
        }
    }

    @Test func aServerThatAnswersNoPageTeachesNoDialect() async throws {
        try await World.with(.endorser) { world in
            world.mock.script(.status(200, body: "{\"hello\":1}"), at: .plansChanged)
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(await agent.caller.gate.dialect == nil)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
        }
    }
}

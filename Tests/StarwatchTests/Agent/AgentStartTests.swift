import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct AgentStartTests {
    private func expectRefused(_ change: @escaping (inout AgentOptions) -> Void) async throws {
        try await World.with(.endorser) { world in
            let error = await #expect(throws: AgentError.self) { try await world.agent(change) }
            #expect(error?.kind == .configuration)
            #expect(error?.message.hasSuffix(".") == true)
        }
    }

    @Test(arguments: [
        "", "api.endorser.ch", "ftp://api.endorser.ch", "https://user:secret@api.endorser.ch", "https://x/?a=b",
    ])
    func aServerURLThatCannotBeUsedIsRefusedWithoutItsSecrets(url: String) async throws {
        try await World.with(.endorser) { world in
            let error = await #expect(throws: AgentError.self) { try await world.agent { $0.server.url = url } }
            #expect(error?.kind == .configuration)
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test func aZoneThatDoesNotExistIsRefused() async throws {
        try await expectRefused { $0.polls[0].timing = .cron("* * * * *", timezone: "Mars/Olympus") }
    }

    @Test func aScheduleThatCannotBeReadIsRefused() async throws {
        try await expectRefused { $0.polls[0].timing = .cron("61 * * * *", timezone: "UTC") }
    }

    @Test func twoSinksOfOneNameAreRefused() async throws {
        try await expectRefused { $0.delivery.sinks.append($0.delivery.sinks[0]) }
    }

    @Test func aSinkNamedLikeTheServerIsRefused() async throws {
        try await expectRefused { $0.delivery.sinks[0].name = "server" }
    }

    @Test func aSecondAgentOnTheDatabaseIsRefused() async throws {
        try await World.with(.endorser) { world in
            let first = try await world.agent()
            let error = await #expect(throws: AgentError.self) {
                try await Agent(options: world.options, time: world.clock)
            }
            #expect(error?.kind == .configuration)
            #expect(try await first.runPoll(World.starred).outcome == "bootstrapped")
        }
    }

    @Test func aClosedAgentPollsNoMoreAndLeavesItsDatabaseToTheNext() async throws {
        try await World.with(.endorser) { world in
            let name = try #require(PollName(World.starred))
            let first = try await world.agent()
            #expect(await first.poll(name) == .bootstrapped)
            await first.close()
            await first.close()
            #expect(await first.poll(name) == .failed)
            let second = try await Agent(options: world.options, time: world.clock)
            #expect(await second.poll(name) == .unchanged)
            await second.close()
        }
    }

    @Test func theDatabaseHoldsIdentityAndStarsAfterTheFirstStart() async throws {
        try await World.with(.endorser) { world in
            var agent = try await world.agent { $0.polls[0].planIDs = ["https://example.org/a"] }
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: ["https://example.org/b"]))
            agent = try await world.agent {
                $0.initialIdentity = World.other
                $0.polls[0].planIDs = ["https://example.org/c"]
            }
            #expect(try await agent.perform(ControlAPI.showIdentity).did == World.ethr.rawValue)
            #expect(try await agent.stars() == ["https://example.org/b"])
        }
    }

    @Test func changingTheServerStartsAfresh() async throws {
        try await World.with(.endorser) { world in
            world.mock.publish(count: 3)
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await agent.runPoll(World.starred).new == 3)
            agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.server.url = world.mock.url.replacing("127.0.0.1", with: "localhost")
            }
            #expect(agent.runtime.account.gate.known.dialect == nil)
            #expect(try await agent.state(of: world.did).fetchCursor == nil)
            // Its cursors are its own, and so are its rows.
            #expect(try await agent.runPoll(World.starred).new == 3)
        }
    }
}

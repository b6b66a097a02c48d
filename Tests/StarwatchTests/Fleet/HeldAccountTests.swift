import MockEndorser
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// Many accounts, and a sink with hours.
@Suite(.timeLimit(.minutes(5))) struct HeldAccountTests {
    private static let accounts = [TestAccount.ethr, TestAccount.other]

    /// An agent that has visited its accounts, each with a project of its own. Its sink has quiet hours.
    private func agent(in world: World) async throws -> Agent {
        let agent = try await world.agentOfMany { options in
            options.delivery.sinks[0].hours = QuietHours("22:00-07:00").map { .quiet($0) }
            options.delivery.sinks[0].timezone = "Europe/Zurich"
        }
        let plans = world.mock.planIDs
        let added = try await agent.perform(
            ControlAPI.addAccounts,
            AccountAdditions(
                accounts: Self.accounts.indices.map {
                    .init(did: Self.accounts[$0].rawValue, stars: [plans[$0]])
                }
            )
        )
        #expect(added.accounts.map(\.result) == ["added", "added"])
        await agent.visitAll(after: .seconds(60), on: world.clock)
        return agent
    }

    /// Lets an hour come, publishes a change of each account's project, and lets all be visited.
    private func publish(at time: String, in world: World, _ agent: Agent) async throws -> [String] {
        try await visit(at: time, in: world, agent)
        let ids = world.mock.publish(world.mock.planIDs.prefix(2).map { MockChange(planID: $0) })
        for _ in 0..<2 { await agent.visitAll(after: .seconds(61), on: world.clock) }
        return ids
    }

    private func visit(at time: String, in world: World, _ agent: Agent) async throws {
        let time = try #require(Timestamp(iso8601: time))
        await agent.visitAll(after: time - world.clock.now, on: world.clock)
    }

    @Test func theNightOfEachAccountIsOneNotificationOfItsOwn() async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(in: world)
            let first = try await publish(at: "2026-01-01T21:30:00Z", in: world, agent)
            let second = try await publish(at: "2026-01-01T23:00:00Z", in: world, agent)
            try #expect(world.notifications.isEmpty)
            #expect(try await agent.rows([.claimed]).count == 4)

            try await visit(at: "2026-01-02T06:00:00Z", in: world, agent)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            let notifications = try world.notifications
            #expect(notifications.count == 2 && Set(notifications.map(\.id)).count == 2)
            for (index, account) in Self.accounts.enumerated() {
                let own = notifications.filter { $0.account == agent.process.pseudonym.hash(account) }
                #expect(own.map { $0.changes.map(\.jwt_id) } == [[first[index], second[index]]])
            }
            #expect(try await agent.rows([.acknowledged]).count == 4)
        }
    }

    /// Otherwise each would count as held until its next visit, although its sink is open.
    @Test func whatIsHeldFollowsTheHoursOfALaterStartAtOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(in: world)
            let ids = try await publish(at: "2026-01-01T21:30:00Z", in: world, agent)
            try #expect(world.notifications.isEmpty)
            #expect(await agent.visitAll(after: .zero, on: world.clock) == 0)
            let again = try await world.agent { options in
                options = agent.options
                options.delivery.sinks[0].hours = nil
            }
            await again.visitAll(after: .zero, on: world.clock)
            try #expect(world.announced.sorted() == ids.sorted())
        }
    }
}

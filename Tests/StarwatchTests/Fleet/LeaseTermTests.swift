import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Nothing is sent for an account whose lease another process can claim soon.
@Suite struct LeaseTermTests {
    /// An agent whose two accounts are visited, with a webhook that they share.
    private static func run(_ body: (World, FleetService, Agent) async throws -> Void) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany { options in
                let hook = SinkOptions.Kind.webhook(
                    url: options.server.url + "/hook",
                    secretFile: nil,
                    timeout: .seconds(60)
                )
                options.delivery.sinks = [SinkOptions(name: "hook", kind: hook)]
                options.delivery.groupInterval = .zero
                options.fleet.sharedRequests = false
            }
            let entries = zip([TestAccount.ethr, TestAccount.other], world.mock.planIDs).map { did, plan in
                AccountAdditions.Entry(did: did.rawValue, stars: [plan])
            }
            _ = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: entries))
            await agent.visitAll(after: .seconds(60), on: world.clock)
            try await body(world, try #require(agent.fleet), agent)
        }
    }

    @Test(arguments: [(19, 2), (20, 0)])
    func nothingIsAskedTwentySecondsAfterTheClaim(seconds: Int, requests: Int) async throws {
        try await Self.run { world, service, _ in
            world.clock.advance(by: .seconds(61))
            let leases = await service.claim()
            #expect(leases.count == 2)
            let before = world.mock.requestCount(of: .plansChanged)
            world.clock.advance(by: .seconds(seconds))
            for lease in leases { await service.visit(lease) }
            #expect(world.mock.requestCount(of: .plansChanged) == before + requests)
        }
    }

    @Test func aRenewalLetsTheVisitGoOn() async throws {
        try await Self.run { world, service, _ in
            world.clock.advance(by: .seconds(61))
            let leases = await service.claim()
            let before = world.mock.requestCount(of: .plansChanged)
            world.clock.advance(by: .seconds(15))
            await service.renewLeases()
            world.clock.advance(by: .seconds(15))
            for lease in leases { await service.visit(lease) }
            #expect(world.mock.requestCount(of: .plansChanged) == before + 2)
        }
    }

    /// The machine slept: only a clock that counts this time shows that the lease is over.
    @Test func nothingIsAskedAfterTheMachineSlept() async throws {
        try await Self.run { world, service, _ in
            world.clock.advance(by: .seconds(61))
            let leases = await service.claim()
            let before = world.mock.requestCount(of: .plansChanged)
            world.clock.suspend(for: .seconds(20))
            for lease in leases { await service.visit(lease) }
            #expect(world.mock.requestCount(of: .plansChanged) == before)
        }
    }

    @Test(arguments: [(19, 1), (20, 0)])
    func noNotificationIsSentTwentySecondsAfterTheClaim(seconds: Int, sent: Int) async throws {
        try await Self.run { world, service, agent in
            world.mock.setStickyFault(.status(503), at: .hook)
            world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            await agent.visitAll(after: .seconds(61), on: world.clock)
            // Outside the expectation, in which Swift 6.3 confuses the closures.
            let claimed = try await agent.rows([.claimed])
            #expect(claimed.count == 1)
            world.mock.setStickyFault(nil, at: .hook)
            // Beyond the wait after the failures, and the circuit of the sink.
            world.clock.advance(by: .seconds(600))
            let leases = await service.claim()
            #expect(leases.count == 2)
            let before = world.mock.requestCount(of: .hook)
            world.clock.advance(by: .seconds(seconds))
            for lease in leases { await service.visit(lease) }
            #expect(world.mock.requestCount(of: .hook) == before + sent)
        }
    }
}

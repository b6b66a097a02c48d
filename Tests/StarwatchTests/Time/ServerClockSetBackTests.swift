import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// A server whose clock was ahead for a while, and whose identifiers were too.
@Suite struct ServerClockSetBackTests {
    /// Changes at each of `polls` cycles, `interval` apart, and returns their identifiers.
    private func run(_ world: World, _ agent: Agent, polls: Int, interval: Duration) async throws -> [String] {
        var ids: [String] = []
        for _ in 0..<polls {
            world.clock.advance(by: interval / 2)
            ids += world.mock.publish(count: 1)
            world.clock.advance(by: interval / 2)
            _ = try await agent.runPoll(World.starred)
        }
        return ids
    }

    @Test(arguments: MockDialect.allCases, [Duration.seconds(60), .seconds(900), .seconds(7200)])
    func whatChangesAfterTheClockWasSetBackIsTold(dialect: MockDialect, interval: Duration) async throws {
        // One row a plan: with more plans than changes no change supersedes another.
        try await World.with(dialect, plans: 60) { world in
            let agent = try await world.agent { $0.log.level = .warning }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.mock.clockSkew = .seconds(300)
            var ids = try await run(world, agent, polls: 5, interval: interval)
            world.mock.clockSkew = .zero
            ids += try await run(world, agent, polls: 20, interval: interval)
            let announced = try world.announced
            #expect(Set(announced) == Set(ids), "missing \(Set(ids).subtracting(announced).count) of \(ids.count)")
            #expect(announced.count == ids.count)
            #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
            let warnings = world.log.lines.filter { $0.contains(#""event":"poll.cursor_ahead""#) }
            // Only while the newest identifier is in the future. A step of the clock is followed by the second reading.
            #expect(warnings.count <= 2)
            if interval < .seconds(300) { #expect(warnings.count >= 1) }
        }
    }

    /// The cursor stays ahead for a month.
    @Test(arguments: MockDialect.allCases)
    func aClockThatWasAMonthAheadHidesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 60) { world in
            var agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.mock.clockSkew = .seconds(30 * 86_400)
            var ids = try await run(world, agent, polls: 3, interval: .seconds(900))
            world.mock.clockSkew = .zero
            ids += try await run(world, agent, polls: 5, interval: .seconds(900))
            #expect(try Set(world.announced) == Set(ids))
            // After a restart too, from the first cycle on.
            agent = try await world.agent()
            ids += try await run(world, agent, polls: 5, interval: .seconds(900))
            #expect(try Set(world.announced) == Set(ids))
        }
    }

    /// Old changes can have been deleted, and would be announced again. The local clock is behind the server's: it is
    /// trusted, or was reset, or is too far behind to be followed.
    @Test(
        arguments: MockDialect.allCases,
        [(ClockOptions.Source.system, 3600), (.auto, 3600), (.auto, 30 * 86_400)] as [(ClockOptions.Source, Int64)]
    )
    func aLocalClockThatIsBehindAsksForNothingOld(
        dialect: MockDialect,
        clock: (source: ClockOptions.Source, behind: Int64)
    ) async throws {
        try await World.with(dialect, plans: 60, mock: { $0.clockSkew = .seconds(clock.behind) }) { world in
            var agent = try await world.agent { $0.clock.source = clock.source }
            _ = try await run(world, agent, polls: 3, interval: .seconds(60))
            agent = try await world.agent { $0.clock.source = clock.source }
            world.mock.forgetRequests()
            _ = try await run(world, agent, polls: 3, interval: .seconds(60))
            let requests = world.mock.requests(to: .plansChanged)
            #expect(requests.count >= 3)
            for request in requests {
                let body = try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
                let after = try #require((body["afterId"] as? String).flatMap(JWTID.init))
                let server = world.clock.now + world.mock.clockSkew
                #expect(server - after.timestamp < .seconds(400))
            }
        }
    }
}

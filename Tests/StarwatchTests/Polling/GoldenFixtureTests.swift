import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// The agent with the answers that the requirements give verbatim. `StarwatchCoreTests` checks their decoding.
@Suite struct GoldenFixtureTests {
    private func fixture(_ name: String) throws -> MockFault {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "StarwatchCoreTests/Fixtures")
        return .status(
            name == "rate_limited" ? 429 : 200,
            body: try String(contentsOf: folder.appending(path: name + ".json"), encoding: .utf8)
        )
    }

    private func poll(
        _ name: String,
        validation: Validation = .lenient,
        _ body: (World, Agent, PollReport) async throws -> Void
    ) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.server.dialect = .canonical
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].validation = validation
                $0.log.level = .warning
            }
            world.mock.script(try fixture(name), at: .plansChanged)
            try await body(world, agent, try await agent.runPoll(World.starred))
        }
    }

    @Test func theEmptyResponseChangesNothing() async throws {
        try await poll("empty", validation: .strict) { _, agent, report async throws in
            #expect(report.outcome == "unchanged" && report.fetched == 0)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
        }
    }

    @Test(arguments: ["small", "small_full"])
    func theSmallResponseIsAnnouncedInOneNotification(name: String) async throws {
        try await poll(name, validation: name == "small" ? .lenient : .strict) { world, agent, report async throws in
            #expect(report.outcome == "changed" && report.new == 3)
            #expect(try world.notifications.map(\.count) == [3])
            #expect(
                try await agent.state(of: world.did).fetchCursor?.rawValue == "1704240000_new123_0badf00d"
            )
        }
    }

    @Test func theRateLimitedResponseIsWaitedOut() async throws {
        try await poll("rate_limited") { world, agent, report async throws in
            #expect(report.outcome == "unchanged")
            let times = world.mock.requests(to: .plansChanged).map(\.receivedAt)
            #expect(times.count == 2 && times[1].timeIntervalSince(times[0]) >= 60)
        }
    }

    @Test(arguments: ["malformed", "small", "mixed_order_full"])
    func aRejectedResponseChangesNothingAndIsLogged(name: String) async throws {
        try await poll(name, validation: name == "malformed" ? .lenient : .strict) {
            world,
            agent,
            report async throws in
            #expect(report.outcome == "failed" && report.new == 0)
            let state = try await agent.state(of: world.did)
            #expect(state.fetchCursor == nil && state.watermark == nil)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            let page = await agent.page()
            let kind = name == "mixed_order_full" ? "order" : "schema"
            let labels = ["poll": World.starred, "kind": kind]
            #expect(page["starwatch_contract_violations_total", labels] == 1)
            let lines = world.log.lines
            #expect(lines.contains { $0.contains("poll.failed") && $0.contains("broke its contract (\(kind)).") })
            // A wrong order has no field to name.
            #expect(lines.contains { $0.contains("poll.contract_violation") } == (kind == "schema"))
        }
    }

    @Test(arguments: ["mixed_order", "mixed_order_full"])
    func theMixedOrderIsSortedCountedAndUsed(name: String) async throws {
        try await poll(name) { world, agent, report async throws in
            #expect(report.outcome == "changed")
            #expect(try world.announced == ["1704067200_abc123_def45678", "1704153600_mno345_0badf00d"])
            let labels = ["poll": World.starred, "kind": "order"]
            #expect(await agent.page()["starwatch_contract_violations_total", labels] == 1)
        }
    }
}

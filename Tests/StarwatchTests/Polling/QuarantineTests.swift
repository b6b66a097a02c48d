import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Invalid items that a poll rejects alone, as their operator sees them.
@Suite struct QuarantineTests {
    private func item(_ dialect: MockDialect) -> String { dialect == .canonical ? "planSummary" : "plan" }

    @Test(arguments: MockDialect.allCases)
    func aRejectedItemIsListedCountedLoggedAndHidden(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent {
                $0.polls[0].quarantineInvalid = .atOnce
                $0.log.level = .warning
            }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 3)
            world.mock.script(
                .schemaViolation(.nullHandleID),
                .schemaViolation(.nullHandleID),
                at: .plansChanged
            )
            let runs = [try await agent.runPoll(World.starred), try await agent.runPoll(World.starred)]
            let entries = try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries
            #expect(entries.count == 1)
            let entry = try #require(entries.first)
            #expect(entry.jwtID == (dialect == .canonical ? ids.first : ids.last))
            #expect(entry.poll == World.starred && entry.kind == "schema" && entry.page == 1 && entry.times == 2)
            #expect(entry.runID == runs[1].runID)
            #expect(entry.issues == [.init(path: "$.data[0].\(item(dialect)).handleId", problem: "missing")])

            #expect(await agent.page()["starwatch_quarantined_rows"] == 1)
            let status = await agent.state()
            #expect(status.outbox.quarantined == 1 && status.reasons == ["quarantined"])
            let lines = world.log.lines.filter { $0.contains("\"event\":\"poll.item_quarantined\"") }
            #expect(lines.count == 1 && lines[0].contains(runs[0].runID), "\(lines)")
            for problem in lines.flatMap(LogSchema.problems) { Issue.record("\(problem)") }

            #expect(
                try await agent.perform(ControlAPI.discardQuarantine, RowSelection(ids: [entry.id, 99])).changed == 1
            )
            #expect(
                try await agent.perform(ControlAPI.discardQuarantine, RowSelection(allOf: World.starred)).changed == 0
            )
            #expect(await agent.page()["starwatch_quarantined_rows"] == 0)
            #expect(await agent.state().reasons.isEmpty)
            var query = QuarantineQuery()
            query.limit = 0
            await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.listQuarantine, query).entries
            }
            query = QuarantineQuery()
            query.poll = "nobody"
            await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.listQuarantine, query).entries
            }
            await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.discardQuarantine, RowSelection(allOf: "nobody")).changed
            }
        }
    }

    @Test func aBootstrapQuarantinesNothing() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].quarantineInvalid = .atOnce }
            world.mock.publish(count: 3)
            world.mock.script(.schemaViolation(.nullHandleID), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try await agent.perform(ControlAPI.listQuarantine, QuarantineQuery()).entries.isEmpty)
        }
    }
}

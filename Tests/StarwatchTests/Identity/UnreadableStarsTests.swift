import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Stars of another shape, which only `stars set` replaces.
@Suite struct UnreadableStarsTests {
    @Test func theyAreReportedNotOverwrittenAndMendedBySettingThem() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent { $0.log.level = .error }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let database = DatabaseOnDisk(path: world.folder.path("starwatch.db"))
            await world.stopAgent()
            try database.execute("UPDATE settings SET starredPlanHandleIds = '{\"plans\":[]}'")
            agent = try await world.agent { $0.log.level = .error }
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "skipped" && report.reason == SkipReason.noStars.rawValue)
            _ = try await agent.runPoll(World.starred)
            let lines = world.log.lines.filter { $0.contains("\"event\":\"stars.unreadable\"") }
            #expect(lines.count == 1)
            for problem in lines.flatMap(LogSchema.problems) { Issue.record("\(problem)") }
            #expect(try await agent.stars().isEmpty)
            for operation in [StarsChange.Operation.add, .remove, .restore] {
                let error = await #expect(throws: ControlError.self) {
                    try await agent.changeStars(StarsChange(operation: operation, planIDs: ["a"]))
                }
                #expect(error?.kind == .conflict && error?.message.contains("starwatch stars set") == true)
            }
            let plans = world.mock.planIDs
            #expect(try await agent.changeStars(StarsChange(operation: .set, planIDs: plans)) == plans)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(
                try await agent.changeStars(StarsChange(operation: .remove, planIDs: [plans[0]])).count == plans.count
                    - 1
            )
        }
    }
}

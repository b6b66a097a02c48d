import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Texts and links of notifications, as the dispatcher creates them.
@Suite struct NotificationContentTests {
    private func last(_ bench: Bench) throws -> NotificationMessage {
        let payload = try #require(bench["first"].seen.last).payload
        return try #require(NotificationMessage(json: payload))
    }

    @Test func theTextsAreInTheConfiguredLanguage() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in options.delivery.locale = "pl-PL" }
        ) { bench async throws in
            await bench.fetch(2)
            await bench.dispatch()
            let message = try last(bench)
            #expect(message.title == "Aktualizacje projektów")
            #expect(message.body == "Masz 2 nowe aktualizacje w projektach oznaczonych gwiazdką")
            #expect(message.locale == "pl-PL")
            #expect(message.actionLabels?["dismiss"] == "Odrzuć")
        }
    }

    @Test func manyChangesHaveAShortlinkThatStandsForAllOfThem() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.fetch(12)
            bench["first"].script(.down)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(60))
            await bench.dispatch()
            let (first, retried) = (bench["first"].seen[0], try last(bench))
            #expect(retried.json() == first.payload)
            guard case .shortlink(let shortlink) = try DeepLink(parsing: retried.deepLink) else {
                Issue.record("there is no shortlink")
                return
            }
            #expect(retried.actionLabels?["view_updates"] == "View All")
            #expect(shortlink.rawValue.count == 32)
            let report = try await bench.agent.perform(ControlAPI.showShortlink, shortlink)
            #expect(report.changes.map(\.jwtID) == ids)
            #expect(Set(report.changes.map(\.plan)).isSubset(of: bench.mock.planIDs))
            bench.clock.advance(by: .seconds(86_400))
            let error = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.showShortlink, shortlink)
            }
            #expect(error?.kind == .notFound && error?.message.contains(shortlink.rawValue) == false)
        }
    }

    @Test func aChangeSaysWhatDiffersFromWhatWasSeenBefore() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let plan = bench.mock.planIDs[0]
            bench.mock.publish([MockChange(planID: plan, name: "Garden", description: "Plants")])
            await bench.poll()
            await bench.dispatch()
            #expect(try last(bench).changes[0].fields == nil)
            bench.mock.publish([MockChange(planID: plan, name: "Garden", description: "Trees")])
            await bench.poll()
            await bench.dispatch()
            #expect(
                try last(bench).changes[0].fields == [
                    "description": FieldChange(before: "Plants", after: "Trees"),
                    // Only the former claim has it, and no plan says what became of it.
                    "status": FieldChange(before: "in_progress", after: nil),
                ]
            )
        }
    }

    @Test func whatBootstrappingReadIsWhatTheFirstChangeIsComparedWith() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            let plan = world.mock.planIDs[0]
            world.mock.publish([MockChange(planID: plan, name: "Garden", description: "Plants")])
            // Out of reach of the overlap, in which the server may still show something late.
            world.clock.advance(by: .seconds(600))
            world.mock.publish([MockChange(planID: world.mock.planIDs[1])])
            #expect(await agent.cycle().outcome == .bootstrapped)
            world.clock.advance(by: .seconds(600))
            world.mock.publish([MockChange(planID: plan, name: "Orchard", description: "Plants")])
            #expect(await agent.cycle().new == 1)
            _ = await agent.runtime.dispatcher.pass()
            let line = try String(contentsOfFile: world.folder.path("sink.jsonl"), encoding: .utf8)
            let message = try #require(NotificationMessage(json: Array(line.utf8)))
            #expect(message.changes[0].fields == ["name": FieldChange(before: "Garden", after: "Orchard")])
        }
    }

    @Test func theHostsNameComesBeforeTheServers() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, mock, _ in options.delivery.projectNames = [mock.planIDs[0]: "Our garden"] }
        ) { bench async throws in
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Garden")])
            await bench.poll()
            await bench.dispatch()
            #expect(try last(bench).body == "Our garden has been updated")
            #expect(try last(bench).changes[0].name == "Our garden")
        }
    }
}

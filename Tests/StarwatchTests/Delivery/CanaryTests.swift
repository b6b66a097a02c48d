import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import StarwatchTransport
import Testing

@testable import Starwatch

@Suite struct CanaryTests {
    /// An agent with a sink for programs, which gets canaries, and one for people.
    private func agent(_ world: World, _ change: (inout AgentOptions) -> Void = { _ in }) async throws -> Agent {
        try await world.agent { options in
            options.canary = CanaryOptions()
            options.delivery.groupWait = .zero
            options.delivery.sinks = ["programs", "people"].map {
                SinkOptions(name: $0, kind: .file(path: world.folder.path($0)))
            }
            options.delivery.sinks[0]["canary"] = true
            change(&options)
        }
    }

    private func canary(_ agent: Agent) throws -> CanaryService { try #require(agent.runtime.canary) }

    /// Makes the passes of all workers once.
    private func round(_ agent: Agent) async throws {
        _ = try await canary(agent).pass()
        _ = await agent.runtime.dispatcher.pass()
        _ = await agent.runtime.acknowledger.pass()
        _ = try await canary(agent).pass()
    }

    private func lines(_ world: World, _ name: String) -> [NotificationMessage] {
        ((try? String(contentsOfFile: world.folder.path(name), encoding: .utf8)) ?? "").split(separator: "\n")
            .compactMap {
                NotificationMessage(json: Array($0.utf8))
            }
    }

    @Test func theHoursOfASinkHoldNoCanary() async throws {
        try await World.with(.canonical) { world in
            let agent = try await agent(world) {
                $0.delivery.sinks[0].hours = .deliverAt(["08:00"].compactMap(DayTime.init))
            }
            try await round(agent)
            #expect(lines(world, "programs").map(\.canary) == [true])
            await agent.close()
        }
    }

    @Test func aCanaryReachesOnlyTheSinksThatAreMarkedAndIsAcknowledgedLocally() async throws {
        try await World.with(.canonical) { world in
            let agent = try await agent(world)
            try await round(agent)
            let message = try #require(lines(world, "programs").first)
            #expect(lines(world, "programs").count == 1 && lines(world, "people").isEmpty)
            #expect(message.canary == true && message.poll == "canary" && message.changes.isEmpty)
            #expect(agent.canaryFacts?.lastArrival == world.clock.now)
            let page = await agent.page()
            #expect(page["starwatch_acknowledgements_total", ["result": "local"]] == 1)
            #expect(page["starwatch_canaries_total", ["step": "sent"]] == 1)
            #expect(page["starwatch_canary_last_arrival_timestamp_seconds"] == world.clock.now.seconds)
            #expect(page["starwatch_poll_changes_found_total", ["poll": "starred_projects"]] == 0)
            world.clock.advance(by: .seconds(3600))
            try await round(agent)
            #expect(lines(world, "programs").count == 2)
            #expect(await agent.page()["starwatch_canaries_total", ["step": "arrived"]] == 2)
            // The command of its problem.
            var query = OutboxQuery()
            query.poll = "canary"
            #expect(try await agent.perform(ControlAPI.listOutbox, query).entries.count == 2)
            #expect(await agent.state().reasons == [])
            for row in 1...2 {
                let story = try await agent.perform(ControlAPI.explain, "\(row)")
                #expect(story.poll == "canary" && story.state == "acknowledged")
                #expect(story.waits == [], "nothing was fetched, so no watermark waits")
            }
        }
    }

    /// A server's dialect has identifiers of its own kind, and the database refuses others.
    @Test(arguments: MockDialect.allCases)
    func canariesGoOnOnceTheServersDialectIsKnownAndAfterARestart(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            for start in 1...2 {
                let agent = try await agent(world)
                for hour in 1...3 {
                    // The first one goes before the server has answered.
                    if start == 1, hour == 2 { world.mock.publish(count: 1) }
                    if start == 1, hour > 1 { #expect(await agent.poll(PollName(World.starred)!) != nil) }
                    try await round(agent)
                    let count = lines(world, "programs").count { $0.canary == true }
                    #expect(count == 3 * (start - 1) + hour)
                    world.clock.advance(by: .seconds(3600))
                }
                await world.stopAgent()
            }
        }
    }

    @Test func noSecondCanaryIsSentBeforeTheFirstArrivesAndItsAbsenceIsAProblem() async throws {
        try await World.with(.canonical) { world in
            let refuses = SinkOptions.Kind.webhook(url: "http://127.0.0.1:1/", secretFile: nil, timeout: .seconds(1))
            let agent = try await agent(world) {
                $0.delivery.sinks[0].kind = refuses
                $0.delivery.sinks[0]["canary"] = true
            }
            for _ in 1...5 {
                try await round(agent)
                world.clock.advance(by: .seconds(3600))
            }
            #expect(await agent.page()["starwatch_canaries_total", ["step": "sent"]] == 1)
            #expect(await agent.state().has(.canaryLate))
        }
    }

    @Test func aCanaryThatWaitsIsWithdrawnWhenNoSinkTakesItAnyMore() async throws {
        try await World.with(.canonical) { world in
            let former = try await agent(world)
            _ = try await canary(former).pass()
            let agent = try await agent(world) {
                $0.canary = nil
                $0.delivery.sinks[0]["canary"] = false
            }
            _ = await agent.runtime.dispatcher.pass()
            #expect(lines(world, "programs").isEmpty && lines(world, "people").isEmpty)
            #expect(try await agent.store.outbox.list(OutboxFilter()).map(\.state) == [.cancelled])
            #expect(await agent.state().reasons == [])
        }
    }

    @Test func aDatabaseThatFailsIsLoggedAndRetried() async throws {
        try await World.with(.canonical) { world in
            let fault = StoreFault()
            let agent = try await world.agent(dependencies: fault.dependencies) { options in
                options.log.level = .warning
                options.canary = CanaryOptions()
                options.delivery.sinks[0]["canary"] = true
            }
            fault.fail(.commit)
            #expect(try await canary(agent).pass().next == world.clock.now + .seconds(5))
            fault.fail()
            #expect(try await canary(agent).pass().next == world.clock.now + .seconds(3600))
            await world.stopAgent()
            #expect(world.log.lines.contains { $0.contains("canary.store_failed") })
        }
    }
}

@Suite struct CanaryFactsTests {
    @Test func aCanaryIsMissingTenMinutesAfterItIsDue() {
        let start = Timestamp(seconds: 1_767_225_600)
        func missing(_ arrival: Timestamp?, at now: Timestamp, startedAt: Timestamp) -> Timestamp? {
            HealthFacts.Canary(every: .seconds(3600), lastArrival: arrival, startedAt: startedAt).missingSince(now: now)
        }
        let due = start + .seconds(3600)
        #expect(missing(nil, at: due + .seconds(600), startedAt: start) == nil)
        #expect(missing(nil, at: due + .seconds(601), startedAt: start) == due)
        #expect(missing(start, at: due + .seconds(601), startedAt: start) == due)
        #expect(missing(start + .seconds(60), at: due + .seconds(601), startedAt: start) == nil)
        // An agent that did not run has sent none.
        let restart = start + .seconds(86_400)
        #expect(missing(start, at: restart + .seconds(600), startedAt: restart) == nil)
        #expect(missing(start, at: restart + .seconds(601), startedAt: restart) == restart)
    }
}

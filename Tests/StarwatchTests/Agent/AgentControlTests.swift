import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct AgentControlTests {
    @Test func aPollByHandDeliversAndAcknowledges() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "changed")
            #expect(report.fetched == 3)
            #expect(report.new == 3)
            #expect(report.notifications == 1)
            #expect(report.acknowledged == 3)
            #expect(report.watermarkMoved)
            #expect(report.reason == nil)
            #expect(world.mock.acknowledgedIDs == ids)
            let page = await agent.page()
            #expect(page["starwatch_control_requests_total", ["operation": "poll_run", "result": "ok"]] == 1)
        }
    }

    /// Its workers deliver and acknowledge at the same time.
    @Test func aPollByHandBesideARunningAgentTellsWhatWasDoneWhoeverDidIt() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                ($0.delivery.groupWait, $0.delivery.groupInterval) = (.zero, .zero)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(.delivery, .acknowledgement) }
                for _ in 0..<12 {
                    world.mock.publish(count: 2)
                    let report = try await agent.runPoll(World.starred)
                    #expect(report.new == 2 && report.notifications == 1 && report.acknowledged == 2)
                    #expect(report.watermarkMoved && report.undelivered == 0 && report.unacknowledged == 0)
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test func aPollByHandSaysWhatItDidNotWaitFor() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.delivery.groupInterval = .seconds(300)
            }
            world.mock.publish(count: 1)
            var report = try await agent.runPoll(World.starred)
            #expect(report.undelivered == 0 && report.unacknowledged == 0)
            // The interval of the first notification is not over.
            world.mock.publish(count: 2)
            report = try await agent.runPoll(World.starred)
            #expect(report.new == 2 && report.notifications == 0 && report.undelivered == 2)
            world.clock.advance(by: .seconds(300))
            world.mock.setStickyFault(.status(500), at: .acknowledge)
            report = try await agent.runPoll(World.starred)
            #expect(report.notifications == 1 && report.acknowledged == 0 && !report.watermarkMoved)
            #expect(report.undelivered == 0 && report.unacknowledged == 2)
        }
    }

    @Test func aPollByHandIsSkippedShortlyAfterASuccess() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await agent.runPoll(World.starred, unlessWithin: .seconds(3600)).outcome == "unchanged")
            world.mock.publish(count: 1)
            let skipped = try await agent.runPoll(World.starred, unlessWithin: .seconds(3600))
            #expect(skipped.outcome == "skipped" && skipped.reason == "recent")
            world.clock.advance(by: .seconds(3600))
            #expect(try await agent.runPoll(World.starred, unlessWithin: .seconds(3600)).outcome == "changed")
            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
        }
    }

    @Test func refusalsAreCountedAndLoggedOnceForEachReason() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.control.listen = "127.0.0.1:9465"
                $0.log.level = .warning
            }
            for _ in 0..<1000 { agent.topics.noteRefusal(.token, at: .control, of: "127.0.0.0/8") }
            agent.topics.noteRefusal(.rate, at: .control, of: "127.0.0.0/8")
            let page = await agent.page()
            #expect(page["starwatch_control_refused_total", ["reason": "token"]] == 1000)
            #expect(page["starwatch_control_refused_total", ["reason": "rate"]] == 1)
            #expect(page["starwatch_control_refused_total", ["reason": "host"]] == 0)
            await world.stopAgent()
            let lines = world.log.lines.filter { $0.contains("control.refused") }
            #expect(lines.count { $0.contains("\"reason\":\"rate\"") } == 1)
            // The number of the others has a line too.
            #expect(lines.count { $0.contains("\"reason\":\"token\"") } == 2)
            #expect(lines.count { $0.contains("\"suppressed\":999") } == 1)
            #expect(lines.count == 3)
        }
    }

    @Test func tenThousandStarsAreTheMost() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let most = (0..<10_000).map { "p/\($0)" }
            let refused: [(StarsChange.Operation, [String])] = [
                (.set, most + ["p/more"]), (.remove, most + ["p/more"]), (.add, ["p/more"]),
            ]
            #expect(try await agent.changeStars(StarsChange(operation: .set, planIDs: most)).count == 10_000)
            for (operation, plans) in refused {
                let error = await #expect(throws: ControlError.self) {
                    try await agent.changeStars(StarsChange(operation: operation, planIDs: plans))
                }
                #expect(error?.kind == .invalid && error?.message.contains("at most 10,000 plans") == true)
            }
            #expect(try await agent.changeStars(StarsChange(operation: .add, planIDs: ["p/1"])).count == 10_000)
        }
    }

    @Test func anIdentityIsRemovedOnlyWhenItHasLeft() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let did = try #require(try await agent.store.identity.active().did)
            let active = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.removeIdentity, IdentityRemoval(did: did.rawValue))
            }
            #expect(active?.kind == .conflict)
            _ = try await agent.setIdentity(nil)
            let removal = try await agent.perform(ControlAPI.removeIdentity, IdentityRemoval(did: did.rawValue))
            #expect(removal.keptUntil == (world.clock.now + .days(30)).iso8601)
            let unknown = await #expect(throws: ControlError.self) {
                try await agent.perform(
                    ControlAPI.removeIdentity,
                    IdentityRemoval(did: DID("did:key:nobody")!.rawValue)
                )
            }
            #expect(unknown?.kind == .notFound)
            #expect(unknown.map { "\($0)".contains("nobody") } == false)
        }
    }

    @Test func whatIsAnnouncedAfterAllIsNewToItsPoll() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            #expect(await agent.runtime.pollService.pass(agent.starred, runID: "run").new == 3)
            let stars = try await agent.stars()
            let did = try #require(try await agent.store.identity.active().did)
            _ = try await agent.setIdentity(nil)
            _ = try await agent.setIdentity(did)
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: stars))
            #expect(await agent.runtime.pollService.pass(agent.starred, runID: "run").new == 3)
        }
    }

    @Test func aPollThatDoesNotExistIsNotFound() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let error = await #expect(throws: ControlError.self) { try await agent.runPoll("nobody") }
            #expect(error?.kind == .notFound)
            let page = await agent.page()
            #expect(page["starwatch_control_requests_total", ["operation": "poll_run", "result": "failed"]] == 1)
        }
    }

    @Test func twoSwitchesAtOnceSerialise() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            let before = try await agent.perform(ControlAPI.showIdentity).generation
            try await withThrowingTaskGroup(of: Void.self) { group in
                for did in [World.other, World.key] {
                    group.addTask { _ = try await agent.setIdentity(did) }
                }
                try await group.waitForAll()
            }
            let after = try await agent.perform(ControlAPI.showIdentity)
            #expect(after.generation == before + 2)
            #expect([World.other.rawValue, World.key.rawValue].contains(after.did))
            #expect(await agent.page()["starwatch_identity_changes_total"] == 2)
        }
    }

    @Test func settingTheSameIdentityChangesNothing() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 2)
            #expect(await agent.cycle().new == 2)
            let before = try await agent.perform(ControlAPI.showIdentity).generation
            #expect(try await agent.setIdentity(world.did).generation == before)
            #expect(try await agent.rows([.pending]).count == 2)
            #expect(await agent.page()["starwatch_identity_changes_total"] == 0)
        }
    }

    @Test func theOutboxIsListedNewestFirst() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            #expect(await agent.cycle().new == 3)
            #expect(try await agent.outboxList(state: nil).map(\.jwtID) == ids.reversed())
        }
    }

    @Test func aHealthyAgentSaysSoAndAStalePollDegradesIt() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].staleAfter = .seconds(3600) }
            _ = try await agent.runPoll(World.starred)
            var status = await agent.state()
            #expect(status.status == .healthy)
            #expect(status.reasons.isEmpty)
            #expect(status.identity?.hasPrefix("did:hash:") == true)
            world.clock.advance(by: .seconds(3600))
            #expect(await agent.state().status == .healthy)
            world.clock.advance(by: .seconds(1))
            status = await agent.state()
            #expect(status.status == .degraded)
            #expect(status.reasons == ["stale:starred_projects"])
            #expect(status.polls[World.starred]?.stale == true)
        }
    }

    @Test func aPollThatNeverSucceededBecomesStaleToo() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].staleAfter = .seconds(3600) }
            world.mock.setStickyFault(.status(404), at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            #expect(await agent.state().reasons.isEmpty)
            world.clock.advance(by: .seconds(3601))
            #expect(await agent.state().reasons == ["stale:starred_projects"])
        }
    }

    @Test func whatIsRemovedFromTheStarsIsNotAnnounced() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let plans = world.mock.planIDs
            let ids = world.mock.publish([MockChange(planID: plans[0]), MockChange(planID: plans[1])])
            #expect(await agent.cycle().new == 2)
            _ = try await agent.changeStars(StarsChange(operation: .remove, planIDs: [plans[0]]))
            _ = await agent.runtime.dispatcher.pass()
            #expect(try world.announced == [ids[1]])
            _ = await agent.runtime.acknowledger.pass()
            #expect(try await agent.state(of: world.did).watermark?.rawValue == ids[1])
            #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
        }
    }
}

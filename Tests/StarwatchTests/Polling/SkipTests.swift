import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct SkipTests {
    @Test func aSecondCycleWhileOneIsUnderWayIsSkipped() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent()
            world.mock.script(.status(500), at: .plansChanged)
            async let first = agent.runPoll(World.starred)
            // The first one waits for its second try.
            await world.clock.sleepers(atLeast: 1)
            let second = try await agent.runPoll(World.starred)
            #expect(second.outcome == "skipped")
            #expect(second.reason == "overlap")
            world.clock.advance(by: .seconds(2))
            #expect(try await first.outcome == "bootstrapped")
            let page = await agent.page()
            #expect(page["starwatch_poll_skipped_total", ["poll": World.starred, "reason": "overlap"]] == 1)
            #expect(page["starwatch_poll_attempts_total", ["poll": World.starred]] == 1)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
        }
    }

    @Test func aRequestInFlightIsAbortedWhenTheIdentityChanges() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            world.mock.script(.neverAnswer, at: .plansChanged)
            async let cycle = agent.cycle()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            _ = try await agent.setIdentity(World.other)
            let result = await cycle
            #expect(result.outcome == .cancelled || result.skip == .overlap)
            #expect(result.new == 0)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            let state = try await agent.state(of: World.ethr)
            #expect(!state.bootstrapped)
            #expect(state.fetchCursor == nil)
            let page = await agent.page()
            #expect(page["starwatch_identity_changes_total"] == 1)
            #expect(
                page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": "cancelled"]] == 1
            )
            #expect(page["starwatch_circuit_state", ["target": "server"]] == 0)
        }
    }

    @Test func aCycleThatWaitsToTryAgainStoresNothingOfTheFormerIdentity() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            world.mock.script(.status(500), at: .plansChanged)
            async let cycle = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            _ = try await agent.setIdentity(World.other)
            let result = await cycle
            #expect(result.new == 0)
            #expect(world.clock.sleeperCount == 0)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
        }
    }

    @Test func whatWaitsForTheFormerIdentityIsNotAnnouncedToTheNewOne() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            #expect(await agent.cycle().new == 3)
            _ = try await agent.setIdentity(World.other)
            _ = await agent.runtime.dispatcher.pass()
            #expect(try world.notifications.isEmpty)
            #expect(try await agent.rows([.cancelled]).count == 3)
            let page = await agent.page()
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
            #expect(page["starwatch_outbox_changes_total", ["change": "cancelled"]] == 3)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func nobodySignedInSkips(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            _ = try await agent.setIdentity(nil)
            try await expectSkip(agent, .noIdentity, world)
            #expect(await agent.topics.notReady().contains("signed_out"))
        }
    }

    @Test func noStarsSkip() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: []))
            try await expectSkip(agent, .noStars, world)
            _ = try await agent.changeStars(StarsChange(operation: .add, planIDs: [world.mock.planIDs[0]]))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
        }
    }

    @Test func aKindThatThePreferencesSwitchOffIsSkippedAndNoOther() async throws {
        try await World.with(.endorser) { world in
            var agent = try await world.agent()
            try await agent.store.identity.setNotificationPreferences(
                #"{"starred_projects": false, "offers_to_me": true, "sound": "loud"}"#,
                of: world.did,
                server: world.mock.url,
                now: world.clock.now
            )
            agent = try await world.agent {
                $0.polls.append(PollOptions(name: PollName("offers")!, kind: .offersToMe))
                $0.useTokens(in: world.folder)
            }
            try await expectSkip(agent, .optedOut, world)
            #expect(try await agent.runPoll("offers").outcome == "bootstrapped")
        }
    }

    @Test func aPollThatTheConfigurationSwitchesOffIsSkippedAndNeitherStaleNorANewOne() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].isEnabled = false }
            try await expectSkip(agent, .optedOut, world)
            world.clock.advance(by: .days(30))
            #expect(await agent.state().polls[World.starred]?.stale == false)
        }
    }

    @Test func aKindIsSwitchedOffAndOnAgain() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.polls.append(PollOptions(name: PollName("offers")!, kind: .offersToMe))
                $0.useTokens(in: world.folder)
            }
            let choice = KindChoice(kind: .offersToMe, optedOut: true)
            #expect(try await agent.perform(ControlAPI.chooseKind, choice).optedOut == [.offersToMe])
            #expect(try await agent.perform(ControlAPI.showIdentity).optedOut == [.offersToMe])
            #expect(try await agent.runPoll("offers").reason == "opted_out")
            #expect(try await agent.runPoll(World.starred).outcome != "skipped")
            try await agent.setOptedOut(false, from: .offersToMe)
            #expect(try await agent.perform(ControlAPI.showIdentity).optedOut == nil)
            #expect(try await agent.runPoll("offers").outcome == "bootstrapped")
        }
    }

    @Test func pollsWithoutPlansNeedNoStars() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.polls = [PollOptions(name: PollName("offers")!, kind: .offersToMe)]
                $0.useTokens(in: world.folder)
            }
            #expect(try await agent.runPoll("offers").outcome == "bootstrapped")
        }
    }

    private func expectSkip(_ agent: Agent, _ reason: SkipReason, _ world: World) async throws {
        let report = try await agent.runPoll(World.starred)
        #expect(report.outcome == "skipped")
        #expect(report.reason == reason.rawValue)
        let page = await agent.page()
        for other in SkipReason.allCases {
            let labels = ["poll": World.starred, "reason": other.rawValue]
            // A reason that this poll cannot have has no series.
            #expect(page["starwatch_poll_skipped_total", labels] ?? 0 == (other == reason ? 1 : 0))
        }
        // A skip is neither an attempt nor a failure.
        #expect(page["starwatch_poll_attempts_total", ["poll": World.starred]] == 0)
        #expect(page["starwatch_poll_failure_total", ["poll": World.starred]] == 0)
        #expect(world.mock.requests().isEmpty)
        #expect(await agent.state().polls[World.starred]?.skipReason == reason)
    }
}

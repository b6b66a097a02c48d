import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Agents that do nothing useful, and therefore are not healthy.
@Suite struct FalseHealthyTests {
    private static let offers = PollOptions(name: PollName("offers")!, kind: .offersToMyProjects)

    @Test func aSignedOutAgentIsNotHealthyUnlessItHasNothingToDoForAnIdentity() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.initialIdentity = nil }
            let status = await agent.state()
            #expect(status.reasons == ["signed_out"])
            #expect(status.headline == "Polling stopped: signed out")
            let idle = try await world.agent { $0.polls = [] }
            #expect(await idle.state().reasons == ["no_polls"])
        }
    }

    @Test func aPollWithoutStarsIsNotHealthyUnlessTheAccountOptedOut() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].planIDs = [] }
            let status = await agent.state()
            #expect(status.reasons == ["no_stars:starred_projects"])
            #expect(status.headline == "Polling stopped: no starred projects")
            _ = try await agent.changeStars(StarsChange(operation: .optOut, planIDs: []))
            #expect(await agent.state().reasons == [])
            _ = try await agent.changeStars(StarsChange(operation: .optIn, planIDs: []))
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: ["p/1"]))
            #expect(await agent.state().reasons == [])
        }
    }

    @Test(arguments: [401, 403])
    func refusedCredentialsAreAReasonFromTheFirstFailedCycleUntilASuccess(status code: Int) async throws {
        try await World.with(.endorser) { world in
            try world.folder.write(World.ethrKey, to: "key")
            let agent = try await world.agent { options in
                options.auth.kind = .didKey
                options.auth.keyFile = world.folder.path("key")
            }
            // A cycle tries a refused token twice.
            for _ in 0..<(code == 401 ? 2 : 1) { world.mock.script(.status(code), at: .plansChanged) }
            #expect(await agent.cycle().outcome == .failed)
            let status = await agent.state()
            #expect(status.reasons == ["credentials_refused:starred_projects"])
            #expect(status.headline == "The server refuses the credentials of poll starred_projects")
            world.clock.advance(by: .seconds(60))
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(await agent.state().reasons == [])
        }
    }

    /// A look before the run, such as that of a page, must not use up the announcement.
    @Test(arguments: [true, false])
    func aProblemIsAnnouncedOnceWhenTheAgentRunsAlsoIfItWasSeenBefore(runs: Bool) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent {
                $0.initialIdentity = nil
                $0.log.level = .warning
            }
            #expect(await agent.look().reasons == ["signed_out"])
            if runs { agent.process.lifecycle.start() }
            for _ in 1...2 { #expect(await agent.look().reasons == ["signed_out"]) }
            await world.stopAgent()
            let lines = world.log.lines.filter { $0.contains("problem.began") && $0.contains("signed_out") }
            #expect(lines.count == (runs ? 1 : 0))
        }
    }

    @Test func theLogSaysSinceWhenAProblemExistsAndHowLongItLasted() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.log.level = .notice }
            agent.process.lifecycle.start()
            let begin = world.clock.now
            world.clock.advance(by: .seconds(6 * 3600))
            #expect(await agent.look().reasons == ["stale:starred_projects"])
            world.clock.advance(by: .seconds(60))
            _ = await agent.cycle()
            #expect(await agent.look().reasons == [])
            await world.stopAgent()
            // It is stale since the limit, not since the look that found it.
            let since = "\"since\":\"\((begin + .seconds(4 * 3600)).iso8601)\""
            let lasted = "\"duration_ms\":\((2 * 3600 + 60) * 1000)"
            func lines(_ event: String) -> [String] { world.log.lines.filter { $0.contains("\"\(event)\"") } }
            #expect(lines("problem.began").count == 1 && lines("problem.began").allSatisfy { $0.contains(since) })
            let ended = lines("problem.ended")
            #expect(ended.count == 1 && ended.allSatisfy { $0.contains(since) && $0.contains(lasted) }, "\(ended)")
        }
    }

    @Test func aPollWhoseLastTwoCyclesFailedIsNotHealthyAlsoAfterARestartUntilASuccess() async throws {
        try await World.with(.endorser) { world in
            var agent = try await world.agent()
            world.mock.publish(count: 1)
            world.mock.setStickyFault(.schemaViolation(.missingJWTID), at: .plansChanged)
            #expect(await agent.cycle().outcome == .failed)
            #expect(await agent.state().reasons == [])
            world.clock.advance(by: .seconds(900))
            #expect(await agent.cycle().outcome == .failed)
            for _ in 1...2 {
                let status = await agent.state()
                #expect(status.reasons == ["contract_violated:starred_projects"])
                #expect(status.headline == "The server breaks its contract with poll starred_projects")
                #expect(status.has(.contractViolated, of: World.starred))
                agent = try await world.agent()
            }
            world.mock.clearFaults()
            world.clock.advance(by: .seconds(900))
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(await agent.state().reasons == [])
        }
    }

    @Test func aPollThatAnInvalidItemStopsForEverIsAProblemAtOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].quarantineInvalid = .never }
            world.mock.publish(count: 1)
            world.mock.script(.schemaViolation(.missingJWTID), at: .plansChanged)
            #expect(await agent.cycle().outcome == .failed)
            #expect(await agent.state().reasons == ["contract_violated:starred_projects"])
            world.clock.advance(by: .seconds(900))
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(await agent.state().reasons == [])
        }
    }

    /// A skipped or cancelled cycle says nothing about the server.
    @Test func aFailingPollStaysSoOverACycleThatWasSkipped() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            world.mock.setStickyFault(.malformedJSON, at: .plansChanged)
            for _ in 1...2 {
                _ = await agent.cycle()
                world.clock.advance(by: .seconds(900))
            }
            await agent.runtime.account.gate.hold(until: world.clock.now + .seconds(10), now: world.clock.now)
            #expect(await agent.cycle().skip == .throttled)
            #expect(await agent.state().reasons == ["failing:starred_projects"])
            // Without stars nothing is asked, so nothing fails.
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: []))
            #expect(await agent.state().reasons == ["no_stars:starred_projects"])
        }
    }

    @Test(arguments: [(60, true), (900, false)])
    func aWaitForTheServerIsNoProblemUnlessItIsLongerThanTheInterval(interval: Int, isProblem: Bool) async throws {
        try await World.with(.endorser) { world in
            let timing = PollTiming.every(.seconds(interval))
            var agent = try await world.agent(random: 0) { $0.polls[0].timing = timing }
            world.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .plansChanged)
            #expect(await agent.cycle().outcome == .deferred)
            for seconds in [0, 590] {
                world.clock.advance(by: .seconds(seconds))
                let status = await agent.state()
                #expect(status.reasons == (isProblem ? ["held"] : []))
                let until = isProblem ? "Polling stopped: the server asks to wait until 12:10:00 UTC" : nil
                #expect(status.headline == until)
                agent = try await world.agent(random: 0) { $0.polls[0].timing = timing }
            }
            world.clock.advance(by: .seconds(11))
            #expect(await agent.state().reasons == [])
        }
    }

    @Test func acknowledgementsThatFailTwoTimesInARowAreAReasonUntilASuccess() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(2)
            bench.mock.setStickyFault(.status(403), at: .acknowledge)
            for expected in [[], ["acknowledgements_failing"], ["acknowledgements_failing"]] as [[String]] {
                let next = try #require(await bench.acknowledge().next)
                #expect(await bench.agent.state().reasons == expected)
                // A pass that has nothing to send changes nothing.
                await bench.acknowledge()
                #expect(await bench.agent.state().reasons == expected)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(await bench.agent.state().headline == "Acknowledgements fail: HTTP 403")
            bench.mock.clearFaults()
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(await bench.agent.state().reasons == [])
        }
    }

    @Test func aRefusedWebConfigurationIsAReasonUntilOneIsAccepted() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            agent.topics.noteWebConfiguration(.refused("No."), at: .control)
            agent.topics.noteWebConfiguration(.clearText, at: .control)
            let status = await agent.state()
            #expect(status.reasons == ["reload_refused:control"])
            #expect(status.headline == "The changed web configuration of port control was refused")
            agent.topics.noteWebConfiguration(.reloaded(certificateExpiry: nil), at: .control)
            #expect(await agent.state().reasons == [])
        }
    }

    /// An endorser server answers such a request as if there were no offers.
    @Test(arguments: [PollKind.offersToMe, .offersToMyProjects])
    func aPollOfOffersWithoutTokensIsSkippedAndMovesNoWatermark(kind: PollKind) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { options in
                options.polls.append(PollOptions(name: PollName("offers")!, kind: kind))
            }
            #expect(await agent.state().reasons == ["no_token:offers"])
            let result = await agent.runtime.pollService.pass(agent.runtime.polls[1], runID: "run_test")
            #expect(result.skip == .noToken)
            #expect(world.mock.requestCount(of: kind == .offersToMe ? .offersToMe : .offersToMyProjects) == 0)
            let stream = StreamKey(
                account: world.did,
                server: agent.runtime.account.server,
                poll: agent.runtime.polls[1].name
            )
            let state = try await agent.store.polls.state(stream, maxUndelivered: 1000)
            #expect(!state.bootstrapped && state.fetchCursor == nil && state.watermark == nil)
            #expect(await agent.state().headline == "Poll offers has no token")
        }
    }
}

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
            let status = await agent.status()
            #expect(status.reasons == ["signed_out"])
            #expect(status.headline == "Polling stopped: signed out")
            let idle = try await world.agent { $0.polls = [] }
            #expect(await idle.status().reasons == [])
        }
    }

    @Test func aPollWithoutStarsIsNotHealthyUnlessTheAccountOptedOut() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.polls[0].planIDs = [] }
            let status = await agent.status()
            #expect(status.reasons == ["no_stars:starred_projects"])
            #expect(status.headline == "Polling stopped: no starred projects")
            _ = try await agent.changeStars(StarsChange(operation: .optOut, planIDs: []))
            #expect(await agent.status().reasons == [])
            _ = try await agent.changeStars(StarsChange(operation: .optIn, planIDs: []))
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: ["p/1"]))
            #expect(await agent.status().reasons == [])
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
            let status = await agent.status()
            #expect(status.reasons == ["credentials_refused:starred_projects"])
            #expect(status.headline == "The server refuses the credentials of poll starred_projects")
            world.clock.advance(by: .seconds(60))
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(await agent.status().reasons == [])
        }
    }

    /// An endorser server answers such a request as if there were no offers.
    @Test(arguments: [PollKind.offersToMe, .offersToMyProjects])
    func aPollOfOffersWithoutTokensIsSkippedAndMovesNoWatermark(kind: PollKind) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { options in
                options.polls.append(PollOptions(name: PollName("offers")!, kind: kind))
            }
            #expect(await agent.status().reasons == ["no_token:offers"])
            let result = await agent.runtime.pollService.pass(agent.polls[1], runID: "run_test")
            #expect(result.skip == .noToken)
            #expect(world.mock.requestCount(of: kind == .offersToMe ? .offersToMe : .offersToMyProjects) == 0)
            let stream = StreamKey(account: world.did, server: agent.server, poll: agent.polls[1].name)
            let state = try await agent.store.pollState(stream, maxUndelivered: 1000)
            #expect(!state.bootstrapped && state.fetchCursor == nil && state.watermark == nil)
            #expect(await agent.status().headline == "Poll offers has no token")
        }
    }
}

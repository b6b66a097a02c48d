import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// What `doctor` tries with the server and the sinks.
@Suite struct TrialTests {
    private static let secret = "a secret of thirty-two bytes ok!"

    @Test func aPollIsTriedWithTheAgentsTokenAndNothingIsStored() async throws {
        try await World.with(.canonical, mock: { $0.auth = .sharedSecret(Array(Self.secret.utf8)) }) { world in
            let file = try world.folder.write(Self.secret + "\n", to: "secret")
            let agent = try await world.agent {
                $0.auth.kind = .sharedSecret
                $0.auth.secretFile = file
                $0.server.dialect = .canonical
            }
            world.mock.publish(count: 2)
            let report = try await agent.perform(ControlAPI.tryPoll, World.starred)
            #expect(report.outcome == "changed" && report.fetched == 2 && report.cause == nil)
            let state = try await agent.state(of: world.did)
            #expect(!state.bootstrapped && state.fetchCursor == nil && state.lastAttempt == nil)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            #expect(await agent.page()["starwatch_poll_attempts_total", ["poll": World.starred]] == 0)
            world.mock.setStickyFault(.status(401), at: .plansChanged)
            let refused = try await agent.perform(ControlAPI.tryPoll, World.starred)
            #expect(refused.outcome == "failed" && refused.cause == "http_401")
            await #expect(throws: ControlError.self) { try await agent.perform(ControlAPI.tryPoll, "nobody") }
        }
    }

    @Test func withoutATokenNoPollIsSent() async throws {
        try await World.with(.canonical) { world in
            let trial = try await Trial.reach(world.options)
            if case .answered = trial.reach {} else { Issue.record("\(String(describing: trial.reach))") }
            #expect(world.mock.requests().map(\.endpoint) == [.other])
            #expect(trial.reports.map(\.cause) == world.options.polls.map { _ in "no_token" })
            try await world.mock.stop()
            #expect(try await Trial.reach(world.options).reach?.failure?.reason == FailureReason(.connect))
            try await world.mock.start()
        }
    }

    /// Also before the agent knows the server's dialect.
    @Test(arguments: MockDialect.allCases)
    func aPollOfANewAgentCanBeTried(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            #expect(try await agent.perform(ControlAPI.tryPoll, World.starred).outcome == "unchanged")
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: []))
            #expect(try await agent.perform(ControlAPI.tryPoll, World.starred).reason == SkipReason.noStars.rawValue)
        }
    }

    @Test(arguments: [200, 302, 401, 404, 405, 408, 410, 429, 500, 501, 503, 599])
    func aSinkThatAnswersAnythingCanBeReached(status: Int) async throws {
        try await World.with(.canonical) { world in
            world.mock.setStickyFault(.status(status), at: .hook)
            let url = world.mock.url + "/hook"
            let kinds: [SinkOptions.Kind] = [
                .webhook(url: url, secretFile: nil, timeout: .seconds(60)),
                .ntfy(url: world.mock.url, topic: "hook", tokenFile: nil),
            ]
            for kind in kinds {
                let sink = SinkOptions(name: "hook", kind: kind)
                #expect(await Reach.of(sink, within: longestWait) == .answered(status: status))
            }
            try await world.mock.stop()
            #expect(await Reach.of(SinkOptions(name: "hook", kind: kinds[0])).failure != nil)
            try await world.mock.start()
        }
    }
}

import Foundation
import MockEndorser
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Testing

@testable import Starwatch

/// Accounts that want some of the configured polls.
@Suite struct WantedPollTests {
    private static let did = TestAccount.ethr

    /// An agent with two polls of starred projects, and an account for one of them.
    private static func with(
        polls: [String]?,
        sharing: Bool = true,
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany { options in
                options.fleet.sharedRequests = sharing
                var other = options.polls[0]
                other.name = PollName("nightly")!
                options.polls.append(other)
            }
            #expect(try await add(polls, to: agent, stars: [world.mock.planIDs[0]]).problem == nil)
            try await body(world, agent)
        }
    }

    private static func add(
        _ polls: [String]?,
        to agent: Agent,
        stars: [String]? = nil
    ) async throws -> AccountAdditionsReport.Entry {
        let entry = AccountAdditions.Entry(did: did.rawValue, stars: stars, polls: polls)
        return try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: [entry])).accounts[0]
    }

    private static func shown(by agent: Agent) async throws -> [String] {
        try await agent.perform(ControlAPI.showAccount, IdentityRemoval(did: did.rawValue)).polls
    }

    @Test func anAccountHasAllPollsUnlessItNamesSome() async throws {
        try await Self.with(polls: nil) { world, agent in
            let shown = try await Self.shown(by: agent)
            #expect(shown == ["starred_projects", "nightly"])
            let before = world.mock.requestCount(of: .plansChanged)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            #expect(world.mock.requestCount(of: .plansChanged) == before + 2)
        }
    }

    @Test func anAccountHasOnlyThePollsThatItNames() async throws {
        try await Self.with(polls: ["nightly"]) { world, agent in
            #expect(try await Self.shown(by: agent) == ["nightly"])
            let listed = try await agent.perform(ControlAPI.listAccounts, AccountQuery()).accounts
            #expect(listed.map(\.polls) == [["nightly"]])
            let before = world.mock.requestCount(of: .plansChanged)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            #expect(world.mock.requestCount(of: .plansChanged) == before + 1)
            _ = world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            await agent.visitAll(after: .seconds(61), on: world.clock)
            try #expect(world.notifications.count == 1)
        }
    }

    /// As with tokens, where each account asks alone.
    @Test func aRoundHasOnlyThePollsThatAccountsWant() async throws {
        try await Self.with(polls: ["nightly"], sharing: false) { world, agent in
            func requests() async throws -> Int? {
                try await agent.perform(ControlAPI.status).accounts?.roundRequests
            }
            #expect(try await requests() == 1)
            _ = try await Self.add(["nightly", "starred_projects"], to: agent)
            #expect(try await requests() == 2)
            let off = #"{"starredProjects":false}"#
            try await agent.store.identity.setNotificationPreferences(
                off,
                of: Self.did,
                server: world.mock.url,
                now: world.clock.now
            )
            #expect(try await requests() == 0)
        }
    }

    @Test func anotherAdditionChangesThePollsAndNamingAllGivesAll() async throws {
        try await Self.with(polls: ["nightly"]) { _, agent in
            var results: [String] = []
            var shown: [[String]] = []
            for names in [["nightly"], ["starred_projects"], nil, ["nightly", "starred_projects"]] {
                results.append(try await Self.add(names, to: agent).result)
                shown.append(try await Self.shown(by: agent))
            }
            #expect(results == ["unchanged", "changed", "unchanged", "changed"])
            let all = ["starred_projects", "nightly"]
            #expect(shown == [["nightly"], ["starred_projects"], ["starred_projects"], all])
            // So that it gets a poll that the configuration has later.
            let stored = try await agent.store.accounts.account(Self.did)
            #expect(stored?.polls == nil)
        }
    }

    @Test func whatWaitsOfAPollThatIsNoLongerWantedIsSuppressed() async throws {
        try await Self.with(polls: nil) { world, agent in
            await agent.visitAll(after: .seconds(61), on: world.clock)
            let stream = StreamKey(account: Self.did, server: world.mock.url, poll: PollName("nightly")!)
            let service = try #require(agent.fleet)
            _ = world.mock.publish([MockChange(planID: world.mock.planIDs[0])])
            world.clock.advance(by: .seconds(61))
            _ = await service.claim()
            await agent.fleet?.residents.with(Self.did) { _ = await $0.pollService.pass($0.polls[1], runID: "run") }
            #expect(try await agent.store.status.snapshot([stream]).streams[stream]?.rows[.pending] == 1)
            #expect(try await Self.add(["starred_projects"], to: agent).result == "changed")
            #expect(try await agent.store.status.snapshot([stream]).streams[stream]?.rows[.pending] == nil)
            #expect(try await agent.rows([.suppressed]).count == 1)
        }
    }

    @Test(arguments: [(["foo"], "There is no poll of that name"), ([], "polls is empty")])
    func polls(_ names: [String], areRefusedBecause problem: String) async throws {
        try await Self.with(polls: ["nightly"]) { _, agent in
            let entry = try await Self.add(names, to: agent)
            #expect(entry.result == "refused" && entry.problem?.hasPrefix(problem) == true)
            #expect(try await Self.shown(by: agent) == ["nightly"])
        }
    }
}

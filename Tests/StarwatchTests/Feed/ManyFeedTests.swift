import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// The feeds of an agent that works for many accounts.
@Suite(.timeLimit(.minutes(5))) struct ManyFeedTests {
    private static let first = TestAccount.ethr
    private static let second = TestAccount.other

    /// Gives `body` an agent for two accounts, each with a star of its own.
    private static func withTwo(_ body: (World, Agent) async throws -> Void) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany { options in
                options.log.level = .trace
                options.delivery.sinks = [SinkOptions(name: "feed", kind: .feed(keep: 3))]
            }
            let entries = zip([first, second], world.mock.planIDs).map { did, plan in
                AccountAdditions.Entry(did: did.rawValue, stars: [plan])
            }
            _ = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: entries))
            await agent.visitAll(after: .seconds(60), on: world.clock)
            try await body(world, agent)
        }
    }

    private static func caller(_ account: DID?) -> Operator {
        var caller = Operator.program
        caller.account = account
        return caller
    }

    /// Publishes a change of a plan, and visits the accounts.
    private static func publish(plan: Int, in world: World, to agent: Agent) async -> String {
        let ids = world.mock.publish([MockChange(planID: world.mock.planIDs[plan])])
        await agent.visitAll(after: .seconds(61), on: world.clock)
        return ids[0]
    }

    private static func listing(_ agent: Agent, _ account: DID?) async throws -> FeedListing {
        try await agent.topics.perform(ControlAPI.listNotifications, NotificationQuery(), for: caller(account))
    }

    private static func changes(_ agent: Agent, _ account: DID) async throws -> [String] {
        try await listing(agent, account).notifications.flatMap { $0.notification.changes.map(\.jwtID) }
    }

    private static func token(
        _ agent: Agent,
        _ account: DID?,
        _ operation: FeedTokenChange.Operation = .create
    ) async throws -> String {
        let change = FeedTokenChange(operation)
        let answer = try await agent.topics.perform(ControlAPI.changeFeedToken, change, for: caller(account))
        return try #require(answer.token)
    }

    @Test func eachAccountHasItsOwnNotificationsAndTheFloodOfOneRemovesNoneOfTheOthers() async throws {
        try await Self.withTwo { world, agent in
            let own = await Self.publish(plan: 0, in: world, to: agent)
            var others: [String] = []
            for _ in 0..<5 { others.append(await Self.publish(plan: 1, in: world, to: agent)) }
            #expect(try await Self.changes(agent, Self.first) == [own])
            #expect(try await Self.changes(agent, Self.second) == Array(others.reversed().prefix(3)))
            let (first, second) = (
                try await Self.listing(agent, Self.first), try await Self.listing(agent, Self.second)
            )
            #expect(first.notifications.map(\.sequence) == [1] && second.notifications.first?.sequence == 5)
            // A reader that follows both knows them apart.
            #expect(first.id != second.id && [first.id, second.id].allSatisfy { $0.count == 32 })
        }
    }

    @Test func withoutANameThereIsNoFeed() async throws {
        try await Self.withTwo { _, agent in
            let list = await #expect(throws: ControlError.self) { try await Self.listing(agent, nil) }
            let follow = await #expect(throws: ControlError.self) {
                try await agent.topics.followFeed(after: nil, for: .program)
            }
            let token = await #expect(throws: ControlError.self) { try await Self.token(agent, nil) }
            for error in [list, follow, token] {
                #expect(error == ControlError(.conflict, ControlOperation.problemWithoutAccount))
            }
        }
    }

    @Test func onlyTheReaderOfTheAccountIsToldAndTheOthersTakeNoPlaceOfIts() async throws {
        try await Self.withTwo { world, agent in
            var readers: [FeedReader] = []
            for _ in 0..<Starwatch.Feed.readerLimit {
                readers.append(try await agent.topics.followFeed(after: 0, for: Self.caller(Self.second)))
            }
            let error = await #expect(throws: ControlError.self) {
                try await agent.topics.followFeed(after: 0, for: Self.caller(Self.second))
            }
            #expect(error?.kind == .busy)
            let reader = try await agent.topics.followFeed(after: nil, for: Self.caller(Self.first))
            _ = await Self.publish(plan: 1, in: world, to: agent)
            _ = await Self.publish(plan: 0, in: world, to: agent)
            guard case .notifications(let events) = await reader.next() else {
                Issue.record("nothing came")
                return
            }
            #expect(events.map(\.sequence) == [1])
            for reader in readers + [reader] { reader.end() }
        }
    }

    @Test func aTokenOpensTheFeedOfItsAccountUntilItIsReplacedOrTheAccountIsRemoved() async throws {
        try await Self.withTwo { world, agent in
            let (first, second) = (
                try await Self.token(agent, Self.first), try await Self.token(agent, Self.second)
            )
            #expect(first.count == 32 && first != second)
            #expect(try await Self.token(agent, Self.first) == first)
            #expect(try await agent.topics.feedKey(for: first)?.account == Self.first)
            let next = try await Self.token(agent, Self.first, .rotate)
            #expect(try await agent.topics.feedKey(for: first)?.account == nil)
            #expect(try await agent.topics.feedKey(for: next)?.account == Self.first)
            _ = try await agent.perform(ControlAPI.removeAccount, IdentityRemoval(did: Self.first.rawValue))
            #expect(try await agent.topics.feedKey(for: next)?.account == nil)
            #expect(try await agent.topics.feedKey(for: second)?.account == Self.second)
            let error = await #expect(throws: ControlError.self) { try await Self.token(agent, Self.first) }
            #expect(error?.kind == .notFound)

            let written =
                world.log.lines.joined() + String(decoding: await agent.topics.metrics(.init()).body, as: UTF8.self)
            let journal = try await agent.perform(ControlAPI.listJournal, JournalQuery())
            #expect(journal.entries.contains { $0.verb == "feed.token" && $0.target == "operation=rotate" })
            let all = written + String(decoding: try ControlJSON.encode(journal), as: UTF8.self)
            for secret in [first, second, next, Self.first.rawValue, Self.second.rawValue] {
                #expect(!all.contains(secret))
            }
        }
    }

    @Test func aFeedThatCannotBeStoredStopsOnlyItsAccount() async throws {
        try await Self.withTwo { world, agent in
            let slot = agent.process.sinks[0]
            let receivers = [Self.first, Self.second].map { SinkReceiver(slot, of: $0) }
            _ = slot.change(receivers[1].host) { $0.record(.ok, at: world.clock.now) }
            for _ in 0..<10 { _ = slot.change(receivers[0].host) { $0.record(.timeout, at: world.clock.now) } }
            #expect(receivers.map { $0.circuit.pause(at: world.clock.now) != nil } == [true, false])
            #expect(slot.withHosts(\.down) == 1 && slot.circuit.condition == .working)
            let id = await Self.publish(plan: 1, in: world, to: agent)
            let changes = try await Self.changes(agent, Self.second)
            #expect(changes == [id])
        }
    }

    @Test func aTestNotificationIsInTheFeedOfItsAccount() async throws {
        try await Self.withTwo { _, agent in
            let report = try await agent.topics.perform(ControlAPI.testSink, "feed", for: Self.caller(Self.second))
            #expect(report.messages.allSatisfy { $0.result == .ok })
            #expect(try await Self.listing(agent, Self.first).notifications.isEmpty)
            #expect(try await Self.listing(agent, Self.second).notifications.count == report.messages.count)
        }
    }
}

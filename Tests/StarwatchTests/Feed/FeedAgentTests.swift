import Foundation
import MockEndorser
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

/// The feed of a whole agent.
@Suite(.timeLimit(.minutes(5))) struct FeedAgentTests {
    private func start(_ world: World, keep: Int? = 3) async throws -> Agent {
        try await world.agent { options in
            options.polls[0].bootstrap = .beginning
            if let keep { options.delivery.sinks.append(SinkOptions(name: "feed", kind: .feed(keep: keep))) }
        }
    }

    private func list(_ agent: Agent) async throws -> [FeedEntry] {
        try await agent.perform(ControlAPI.listNotifications, NotificationQuery()).notifications
    }

    @Test func itHasWhatOtherSinksGotAndSurvivesARestart() async throws {
        try await World.with(.endorser) { world in
            var agent = try await start(world)
            for _ in 0..<4 {
                world.mock.publish(count: 1)
                _ = try await agent.runPoll(World.starred)
            }
            let entries = try await list(agent)
            #expect(entries.map(\.sequence) == [4, 3, 2])
            let written = try world.notifications.map(\.id)
            #expect(entries.map(\.notification.id) == written.suffix(3).reversed())
            agent = try await start(world)
            #expect(try await list(agent) == entries)
            var query = NotificationQuery()
            (query.limit, query.before) = (1, 4)
            #expect(try await agent.perform(ControlAPI.listNotifications, query).notifications.map(\.sequence) == [3])
        }
    }

    /// Feed readers know the feed by it, under whatever name they ask.
    @Test func theFeedIsThatOfTheInstallationOverARestart() async throws {
        try await World.with(.endorser) { world in
            var agent = try await start(world)
            let listing = try await agent.perform(ControlAPI.listNotifications, NotificationQuery())
            #expect(listing.id.count == 32 && listing.id.allSatisfy(\.isHexDigit))
            agent = try await start(world)
            let again = try await agent.perform(ControlAPI.listNotifications, NotificationQuery())
            #expect(again.id == listing.id)
            #expect(String(decoding: try ControlJSON.encode(again), as: UTF8.self) == #"{"notifications":[]}"#)
        }
    }

    @Test func whoFollowsIsToldInTheSamePass() async throws {
        try await World.with(.endorser) { world in
            let agent = try await start(world)
            let reader = try await agent.topics.followFeed(after: nil, for: .program)
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            guard case .notifications = await reader.next() else {
                Issue.record("nothing came")
                return
            }
            #expect(reader.position == 1)
            reader.end()
        }
    }

    @Test func onlySoManyMayFollowAtOnce() async throws {
        try await World.with(.endorser) { world in
            let agent = try await start(world)
            var readers: [FeedReader] = []
            for _ in 0..<Starwatch.Feed.readerLimit {
                readers.append(try await agent.topics.followFeed(after: 0, for: .program))
            }
            let error = await #expect(throws: ControlError.self) {
                try await agent.topics.followFeed(after: 0, for: .program)
            }
            #expect(error?.kind == .busy)
            readers.removeLast().end()
            readers.append(try await agent.topics.followFeed(after: 0, for: .program))
            for reader in readers { reader.end() }
            #expect(
                agent.metrics.controlRequests[.notificationsFollow, .ok].value == UInt64(Starwatch.Feed.readerLimit) + 1
            )
            #expect(agent.metrics.controlRequests[.notificationsFollow, .failed].value == 1)
        }
    }

    @Test func withoutTheSinkNothingIsKeptOrTold() async throws {
        try await World.with(.endorser) { world in
            var agent = try await start(world)
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            #expect(try await list(agent).count == 1)
            agent = try await start(world, keep: nil)
            let error = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.listNotifications, NotificationQuery()).notifications
            }
            #expect(error?.kind == .conflict)
            agent = try await start(world)
            #expect(try await list(agent).isEmpty)
        }
    }

    @Test(arguments: [0, 1001])
    func aLimitOutOfRangeIsRefused(limit: Int) async throws {
        try await World.with(.endorser) { world in
            let agent = try await start(world)
            let error = await #expect(throws: ControlError.self) {
                var query = NotificationQuery()
                query.limit = limit
                _ = try await agent.perform(ControlAPI.listNotifications, query)
            }
            #expect(error?.kind == .invalid)
        }
    }
}

import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Which notification had a change, which changes a notification had, and which were notified twice.
@Suite struct WhoGotWhatTests {
    private func notifications(_ bench: Bench, of change: String) async throws -> [NotificationEntry] {
        var query = NotificationQuery()
        query.change = change
        return try await bench.agent.perform(ControlAPI.listSentNotifications, query).notifications
    }

    private func twice(_ bench: Bench) async throws -> [String] {
        var query = OutboxQuery()
        query.twice = true
        return try await bench.agent.outboxList(query).map(\.jwtID)
    }

    @Test func aChangeListsItsNotificationsAndNoOthers() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let first = await bench.fetch(2)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(1))
            let second = await bench.fetch(1)
            await bench.dispatch()
            let found = try await notifications(bench, of: first[0])
            #expect(found.count == 1)
            #expect(try await notifications(bench, of: first[1]).map(\.id) == found.map(\.id))
            #expect(try await notifications(bench, of: second[0]).map(\.id) != found.map(\.id))
            let row = try #require(try await bench.rows().first { $0.jwtID == first[0] })
            #expect(try await notifications(bench, of: "\(row.id)").map(\.id) == found.map(\.id))
            let error = await #expect(throws: ControlError.self) { try await notifications(bench, of: "nonsense") }
            #expect(error?.kind == .invalid)
        }
    }

    @Test func aRetriedChangeListsTheNotificationThatLostItToo() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["hook"].script(.refused)
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            bench.clock.advance(by: .seconds(1))
            _ = try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil))
            await bench.dispatch()
            let found = try await notifications(bench, of: id)
            #expect(found.map(\.state) == ["delivered", "dead"])
            for notification in found {
                let shown = try await bench.agent.perform(ControlAPI.showNotification, notification.id)
                #expect(shown.changes?.map(\.jwtID) == [id])
                let story = try await bench.agent.perform(ControlAPI.explain, notification.id)
                #expect(story.rows?.count == 1)
            }
            // One of the two was refused.
            #expect(try await twice(bench) == [])
        }
    }

    @Test func aNotificationShowsItsChangesWithTheirRows() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let ids = await bench.fetch(3)
            await bench.dispatch()
            let id = try #require(bench["hook"].seen.first?.id)
            let shown = try await bench.agent.perform(ControlAPI.showNotification, id)
            #expect(Set(shown.changes?.map(\.jwtID) ?? []) == Set(ids))
            #expect(shown.changes?.allSatisfy { $0.row != nil && $0.state == .delivered } == true)
        }
    }

    @Test func aChangeThatASinkAcceptedTwiceIsListed() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let id = await bench.fetch(1)[0]
            bench.clock.advance(by: .seconds(1))
            await bench.fetch(1)
            await bench.dispatch()
            #expect(try await twice(bench) == [])
            let notification = try #require(try await notifications(bench, of: id).first)
            _ = try await bench.agent.perform(
                ControlAPI.actOnNotification,
                ChosenAction(.snooze, on: notification.id)
            )
            bench.clock.advance(by: NotificationAction.snoozeDuration)
            await bench.dispatch()
            #expect(try await twice(bench).contains(id))
            #expect(try await notifications(bench, of: id).count == 2)
        }
    }

    @Test func theStatusSaysWhenThePollLastSawSomethingNewAndHowFarItHasSeen() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            let news = bench.clock.now
            bench.clock.advance(by: .seconds(60))
            await bench.poll()
            let poll = try #require(await bench.agent.perform(ControlAPI.status).polls["starred_projects"])
            #expect(poll.lastNew == news.iso8601)
            let seen = try #require(poll.seenUntil.flatMap { Timestamp(iso8601: $0) })
            #expect(seen > news && seen <= bench.clock.now)
        }
    }
}

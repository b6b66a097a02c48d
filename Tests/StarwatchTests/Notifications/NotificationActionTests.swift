import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// Actions of a person, from the control API to the sinks and the host.
@Suite struct NotificationActionTests {
    /// A host that writes down what it is told.
    private final class Host: NotificationActions {
        private let state = Mutex<[String]>([])
        var calls: [String] { state.withLock { $0 } }

        private func note(_ call: String) { state.withLock { $0.append(call) } }

        func onViewUpdates(jwtIds: [String]) async { note("updates \(jwtIds.count)") }
        func onViewProject(projectId: String, jwtId: String) async { note("project \(projectId) \(jwtId)") }
        func onDismiss(notificationId: String) async { note("dismiss \(notificationId)") }
        func onSnooze(notificationId: String, duration: Duration) async {
            note("snooze \(notificationId) \(duration.wholeMilliseconds)")
        }
        func onMarkRead(jwtIds: [String]) async { note("read \(jwtIds.joined(separator: ","))") }
    }

    private func message(_ notification: OutgoingNotification?) throws -> NotificationMessage {
        let payload = try #require(notification).payload
        return try #require(NotificationMessage(json: payload))
    }

    @Test func aSnoozedNotificationComesAgainAnHourLaterThoughTheAgentWasRestarted() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            await bench.fetch(3)
            await bench.dispatch()
            let first = try message(bench["first"].seen.first)
            let report = try await bench.agent.perform(
                ControlAPI.actOnNotification,
                ChosenAction(.snooze, on: first.id)
            )
            #expect(report.already == false)
            #expect(report.repeatsAt == (bench.clock.now + .seconds(3600)).iso8601)
            try await bench.restart()
            bench.clock.advance(by: .seconds(3599))
            await bench.dispatch()
            #expect(bench["first"].seen.count == 1)
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            for sink in ["first", "second"] {
                #expect(bench[sink].seen.count == 2)
                let again = try message(bench[sink].seen.last)
                #expect(again.id == report.repetition && again.id != first.id)
                #expect(again == first.repeated(id: again.id, of: first.id))
            }
            #expect(try await bench.imbalance() == 0)
            #expect(try await bench.counts() == [.delivered: 3])
        }
    }

    @Test func aSnoozedNotificationWhoseOnlySinkIsGoneComesWhenItIsBack() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(3)
            await bench.dispatch()
            let report = try await bench.agent.perform(
                ControlAPI.actOnNotification,
                ChosenAction(.snooze, on: message(bench["first"].seen.first).id)
            )
            bench.clock.advance(by: .seconds(3600))
            bench["first"].script(.gone)
            await bench.dispatch()
            await bench.dispatch()
            #expect(bench["first"].seen.count == 2)
            try await bench.restart()
            await bench.dispatch()
            #expect(bench["first"].seen.count == 3)
            #expect(bench["first"].seen.last?.id == report.repetition)
        }
    }

    @Test func theSameActionAgainChangesNothingAndTellsNobody() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let host = Host()
            bench.agent.setActionHandler(host)
            await bench.fetch(3)
            await bench.dispatch()
            let id = try message(bench["first"].seen.first).id
            let first = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.snooze, on: id))
            bench.clock.advance(by: .seconds(7200))
            let second = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.snooze, on: id))
            #expect(second.already == true)
            #expect(second.repetition == first.repetition && second.doneAt == first.doneAt)
            #expect(host.calls == ["snooze \(id) 3600000"])
            await bench.dispatch()
            #expect(bench["first"].seen.count == 2)
        }
    }

    @Test func theHostIsToldOfEveryAction() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let host = Host()
            bench.agent.setActionHandler(host)
            let single = await bench.fetch(1)
            await bench.dispatch()
            let several = await bench.fetch(3)
            await bench.dispatch()
            let messages = try bench["first"].seen.map { try message($0) }
            let plan = messages[0].changes[0].plan
            #expect(
                try await bench.agent.perform(
                    ControlAPI.actOnNotification,
                    ChosenAction(.viewProject, on: messages[0].id)
                ).deepLink == messages[0].deepLink
            )
            _ = try await bench.agent.perform(
                ControlAPI.actOnNotification,
                ChosenAction(.viewUpdates, on: messages[1].id)
            )
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.dismiss, on: messages[1].id))
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.markRead, on: messages[1].id))
            #expect(
                host.calls == [
                    "project \(plan) \(single[0])", "updates 3", "dismiss \(messages[1].id)",
                    "read \(several.joined(separator: ","))",
                ]
            )
            bench.agent.setActionHandler(nil)
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.dismiss, on: messages[0].id))
            #expect(host.calls.count == 4)
        }
    }

    @Test func whatIsNotThereOrNotOfferedIsRefusedInOneSentence() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(1)
            await bench.dispatch()
            let id = try message(bench["first"].seen.first).id
            let missing = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.dismiss, on: "ntf_secret"))
            }
            #expect(missing?.kind == .notFound && missing?.message.contains("secret") == false)
            let refused = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.viewUpdates, on: id))
            }
            #expect(refused?.kind == .conflict && refused?.message.contains(id) == false)
            let page = await bench.sample(
                "starwatch_control_requests_total{operation=\"notifications_act\",result=\"failed\"}"
            )
            #expect(page == "2")
        }
    }

    @Test func aChangeOfIdentityCancelsWhatWasPutOff() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(3)
            await bench.dispatch()
            let id = try message(bench["first"].seen.first).id
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.snooze, on: id))
            _ = try await bench.agent.setIdentity(nil)
            _ = try await bench.agent.setIdentity(Bench.did)
            bench.clock.advance(by: .seconds(7200))
            await bench.dispatch()
            #expect(bench["first"].seen.count == 1)
        }
    }

    @Test func theListShowsWhatWasSentAndWhatWasDone() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(1)
            await bench.dispatch()
            let sent = try message(bench["first"].seen.first)
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.markRead, on: sent.id))
            let list = try await bench.agent.perform(ControlAPI.listSentNotifications, NotificationQuery())
                .notifications
            #expect(list.map(\.id) == [sent.id])
            #expect(list[0].body == sent.body && list[0].deliveries == nil && list[0].offers == sent.actions)
            let shown = try await bench.agent.perform(ControlAPI.showNotification, sent.id)
            #expect(shown.actions.map(\.action) == [.markRead])
            #expect(shown.deliveries?.map(\.state) == ["ok"])
            var query = NotificationQuery()
            query.limit = 0
            await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.listSentNotifications, query).notifications
            }
        }
    }
}

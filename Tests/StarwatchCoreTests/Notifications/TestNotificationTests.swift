import StarwatchCore
import Testing

@Suite struct TestNotificationTests {
    private static let time = Timestamp(seconds: 1_767_225_600)

    private func message(_ test: TestNotification) -> NotificationMessage {
        NotificationMessage(test, id: "ntf_1", runID: "run_1", sink: "hook", createdAt: Self.time)
    }

    @Test func thereIsOneOfEachFormThatASinkShows() {
        let messages = TestNotification.allCases.map(message)
        #expect(messages.map(\.count) == [1, 3, 0])
        #expect(messages.map(\.group) == [.single, .several, .single])
        #expect(messages.allSatisfy { $0.changes.count == $0.count })
        #expect(messages[0].changes[0].plan.hasPrefix("https://"))
        #expect(messages[0].deepLink.contains("/details?jwtId="))
        #expect(messages[1].deepLink.contains("updates?jwtIds="))
        #expect(Set(messages[1].changes.map(\.jwtID)).count == 3)
    }

    @Test func noneIsSilentOrReplacesAnotherAndEachSaysThatItIsATest() {
        let messages = TestNotification.allCases.map(message)
        #expect(messages.allSatisfy { $0.priority == nil && $0.poll == "test" && $0.actions.isEmpty })
        #expect(Set(messages.map(\.collapseKey)).count == 3)
        #expect(messages.allSatisfy { $0.title.contains("Starwatch test") && $0.body.contains("hook") })
        #expect(NotificationMessage(json: messages[1].json()) == messages[1])
    }
}

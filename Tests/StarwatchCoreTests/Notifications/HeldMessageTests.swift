import StarwatchCore
import Testing

/// Notifications that the hours of sinks hold.
@Suite struct HeldMessageTests {
    private let time = Timestamp(seconds: 1_767_225_600)
    private let poll = PollName("starred_projects")!

    private func changes(part: NotificationPart? = nil) -> NotificationMessage {
        NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: poll,
            kind: .starredProjects,
            changes: [Change(id: JWTID.floor(.ulid, at: time), plan: "plan", name: "Garden")],
            context: NotificationContext(part: part),
            createdAt: time
        )
    }

    private func staleness(isOver: Bool) -> NotificationMessage {
        NotificationMessage(
            staleness: "ntf_1",
            runID: "run_1",
            poll: poll,
            lastSuccess: nil,
            isOver: isOver,
            messages: .english,
            createdAt: time
        )
    }

    @Test func changesAndNoticesAreHeldAndOnlyWholeGroupsOfChangesJoined() {
        let part = changes(part: NotificationPart(number: 2, of: 3, total: 201))
        #expect(HeldMessage.canBe(changes()) && HeldMessage.canBeJoined(changes()))
        #expect(HeldMessage.canBe(part) && !HeldMessage.canBeJoined(part))
        let feature = NotificationMessage(
            feature: .starredProjects,
            id: "ntf_1",
            runID: "run_1",
            messages: .english,
            createdAt: time
        )
        for notice in [staleness(isOver: false), feature] {
            #expect(HeldMessage.canBe(notice) && !HeldMessage.canBeJoined(notice))
        }
    }

    @Test func whatHasATimeOfItsOwnIsNotHeldAndNorIsWhatTakesANoticeBack() throws {
        let digest = DigestMessage(
            id: "ntf_1",
            runID: "run_1",
            occurrence: DigestOccurrence(digest: DigestName("daily_news")!, slot: "s", fireAt: time),
            text: .fallback,
            title: "News",
            body: "None",
            locale: "en"
        )
        let read = try #require(NotificationMessage(json: digest.json()))
        let canary = NotificationMessage(canary: "ntf_1", runID: "run_1", createdAt: time)
        for message in [read, canary, changes().repeated(id: "ntf_2", of: "ntf_1"), staleness(isOver: true)] {
            #expect(!HeldMessage.canBe(message) && !HeldMessage.canBeJoined(message), "\(message.poll)")
        }
    }
}

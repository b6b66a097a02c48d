import StarwatchCore

@testable import Starwatch

/// Answers of a ``FakeAgent``.
enum Sample {
    static let time = "2026-01-01T12:00:00.000Z"

    static let archive = ArchivedStarsReport(archivedAt: time, planIDs: ["p/1"])

    static let shortlink = ShortlinkReport(
        poll: "starred_projects",
        expiresAt: "2026-01-02T12:00:00.000Z",
        changes: [.init(jwtID: "01J", plan: "plan")]
    )

    static func report(of poll: String) -> PollReport {
        var report = PollReport(poll: poll, outcome: "changed", runID: "run-1")
        report.fetched = 3
        report.watermarkMoved = true
        return report
    }

    static func entry(_ id: Int64) -> OutboxEntry {
        var entry = OutboxEntry(
            id: id,
            poll: "starred_projects",
            state: .dead,
            jwtID: "01J",
            plan: "plan",
            attempts: 3,
            createdAt: time
        )
        entry.notificationID = "ntf_1"
        entry.reason = .unreadable
        if id == 2 {
            entry.state = .suppressed
            (entry.reason, entry.announcedBy) = (.announced, "offers")
        }
        return entry
    }

    static func quarantined(_ id: Int64) -> QuarantineEntry {
        QuarantineEntry(
            id: id,
            poll: "starred_projects",
            kind: "schema",
            jwtID: nil,
            issues: [.init(path: "$.data[0].planSummary.handleId", problem: "missing")],
            page: 1,
            runID: "run-1",
            times: 2,
            createdAt: time,
            seenAt: time
        )
    }

    static func sent(_ id: String) -> NotificationEntry {
        NotificationEntry(
            row: 7,
            id: id,
            poll: "starred_projects",
            state: "delivered",
            group: "single",
            count: 1,
            title: "Project Update",
            body: "Garden has been updated",
            createdAt: time,
            offers: ["view_project"],
            actions: []
        )
    }

    static let line = LogLine(id: 7, at: time, level: .warn, runID: "run_1", line: "{}")

    /// A change that waits for its sink.
    static func story(_ id: String) -> Story {
        var story = Story(.change, id: id, state: "claimed")
        story.row = 17
        story.runID = "run_1"
        story.notificationID = "ntf_1"
        story.rows = [.init(row: 17, id: "chg_1", state: .claimed)]
        var step = Story.Step(.attempt, at: time)
        step.afterMilliseconds = 1200
        step.sink = "hook"
        step.attempt = 2
        step.result = "rejected"
        step.reason = "<No.>"
        step.tookMilliseconds = 9
        story.steps = [Story.Step(.claimed, at: time), step]
        story.waits = [.init(ChangeWait(.rejected, until: Timestamp(seconds: 1_767_268_801), sink: "hook"))]
        return story
    }

    static func notification(
        _ sequence: Int64,
        name: String? = "Creek <Cleanup>",
        fields: [String: FieldChange]? = nil,
        isEdited: Bool = false
    ) -> FeedEntry {
        let change = Change(
            id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_000_000 + sequence)),
            plan: isEdited ? "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37" : "p/1",
            name: name,
            isOffer: isEdited
        )
        let message = NotificationMessage(
            id: "ntf_\(sequence)",
            runID: "run_1",
            poll: PollName("starred_projects")!,
            kind: .starredProjects,
            changes: sequence == 1 ? [change] : Array(repeating: change, count: 7),
            context: NotificationContext(largestGroup: 5, fields: fields.map { [change.id: $0] } ?? [:]),
            createdAt: Timestamp(seconds: 3000)
        )
        return FeedEntry(sequence: sequence, storedAt: "1970-01-01T00:50:00.000Z", notification: message)
    }
}

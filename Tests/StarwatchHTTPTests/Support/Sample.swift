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

    static let record = JournalRecord(
        id: 3,
        at: time,
        kind: .action,
        actor: "socket:anna",
        verb: "outbox.retry",
        target: "ids=1,2",
        result: "ok",
        detail: "2 rows"
    )
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
        step.reason = "http_400"
        step.sentence = "<No.>"
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
            isOffer: isEdited,
            isEdition: isEdited
        )
        let message = NotificationMessage(
            id: "ntf_\(sequence)",
            runID: "run_1",
            poll: PollName("starred_projects")!,
            kind: .starredProjects,
            changes: sequence == 1 ? [change] : Array(repeating: change, count: 7),
            context: NotificationContext(largestGroup: 5, fields: fields.map { [change.id: FieldChanges($0)] } ?? [:]),
            createdAt: Timestamp(seconds: 3000)
        )
        return FeedEntry(sequence: sequence, storedAt: "1970-01-01T00:50:00.000Z", notification: message)
    }
}

// MARK: - Answers by their type

extension Sample {
    /// The answer of an agent with this state. `nil` for a type without a sample.
    static func answer(_ type: Any.Type, to input: Any, _ state: inout FakeAgent.State) -> (any Sendable)? {
        let text = input as? String ?? ""
        switch type {
        case is IdentityReport.Type:
            if let choice = input as? IdentityChoice { state.did = choice.did.flatMap { DID($0) } }
            return IdentityReport(did: state.did?.rawValue, generation: input is IdentityChoice ? 2 : 1, pseudonym: nil)
        case is StarsListing.Type:
            guard let change = input as? StarsChange else {
                return StarsListing(planIDs: state.stars, names: ["a": "A"])
            }
            state.stars += change.planIDs
            return StarsListing(planIDs: state.stars)
        case is ChangeCount.Type:
            let ids = (input as? RowSelection)?.ids ?? (input as? DiscardSelection)?.ids
            return ChangeCount(changed: ids?.count ?? 5)
        case is PollReport.Type: return report(of: (input as? PollRun)?.name ?? text)
        case is OutboxEntry.Type: return entry(input as? Int64 ?? 0)
        case is NotificationEntry.Type: return sent(text)
        case is Story.Type: return story(text)
        case is DigestFetchReport.Type:
            return DigestFetchReport(digest: text, outcome: .notModified, contentAt: time)
        case is DigestShowReport.Type:
            return DigestShowReport(digest: text, notificationID: "ntf_1", text: "fallback", state: "delivered")
        case is SinkTestReport.Type:
            return SinkTestReport(sink: text, notificationID: "ntf_1", result: .ok, tookMilliseconds: 12)
        case is ActionReport.Type:
            guard let chosen = input as? ChosenAction else { return nil }
            return ActionReport(
                notificationID: chosen.notification,
                action: chosen.action,
                doneAt: time,
                already: false
            )
        default: return answers.first { Swift.type(of: $0) == type }
        }
    }

    /// The answers that are the same for every input.
    private static let answers: [any Sendable] = [
        OutboxListing(entries: [entry(1), entry(2)]), QuarantineListing(entries: [quarantined(3)]),
        ReloadAnswer(reloaded: true), ServerWaitReport(waitedUntil: "2026-01-08T12:00:00.000Z"),
        IdentityRemovalReport(keptUntil: "2026-01-31T00:00:00.000Z"), IdentityErasureReport(),
        StarsArchive(archived: [archive]), DigestListing(digests: []), shortlink, LogListing(lines: [line]),
        JournalListing(entries: [record]),
        FeedListing(notifications: [notification(2), notification(1)]),
        NotificationListing(notifications: [sent("ntf_1")]), KeyVerification(opened: 120, failed: 0, faults: []),
        KeysReport.example, SigningKeyReport.example,
    ]
}

extension KeysReport {
    fileprivate static let example = KeysReport(
        encrypted: true,
        masterKey: MasterKey(id: "0123456789abcdef", since: "2026-01-01T00:00:00.000Z"),
        dataKeys: [
            DataKey(id: 3, account: nil, state: .active, uses: 65_536, createdAt: "2026-01-01T00:00:00.000Z")
        ],
        signingKeys: [.example]
    )
}

extension KeysReport.SigningKey {
    fileprivate static let example = KeysReport.SigningKey(
        kid: "5f0c1d2e3a4b",
        algorithm: .hs256,
        state: .active,
        account: "did:hash:0123456789abcdef",
        createdAt: "2026-01-01T00:00:00.000Z"
    )
}

extension SigningKeyReport {
    fileprivate static let example = SigningKeyReport(key: .example, retiring: [], used: true)
}

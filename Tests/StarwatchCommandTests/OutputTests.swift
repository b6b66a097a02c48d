import FoundationEssentials
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchCommand

@Suite struct OutputTests {
    @Test func aTableAlignsItsColumns() {
        let table = TextTable(
            titles: ["ID", "NAME", "LAST"],
            right: [0],
            rows: [["1", "café", "x"], ["200", "b", ""]]
        )
        #expect(
            table.text == """
                 ID  NAME  LAST
                  1  café  x
                200  b
                """
        )
    }

    @Test func aTableWithoutRowsIsItsTitle() {
        #expect(TextTable(titles: ["A", "B"], rows: []).text == "A  B")
    }

    @Test func jsonDoesNotControlTheTerminalAndMeansTheSame() throws {
        let names = ["a\u{9B}31mb\u{85}", "\u{202E}\u{7F}\u{1B}", "Zażółć 日本 🦉", "\u{E0041}"]
        let text = try JSONOutput.encode(names)
        for scalar in text.unicodeScalars where scalar != "\n" { #expect(TerminalText.isPrintable(scalar)) }
        #expect(text.contains(#"a\u009b31mb\u0085"#) && text.contains("Zażółć 日本 🦉"))
        #expect(try JSONDecoder().decode([String].self, from: Data(text.utf8)) == names)
    }

    @Test func whatCouldDriveTheTerminalIsShownAsAQuestionMark() {
        #expect(TerminalText.printable("a\u{1B}[31mb\n\u{202E}c\u{7F}") == "a?[31mb?c?")
        #expect(TextTable.pairs([("Name", "x\ny"), ("A", "z")]) == "Name  x?y\nA     z")
    }

    @Test func noListingPassesAnEscapeToTheTerminal() {
        let evil = "a\u{1B}]0;x\u{07}"
        var story = Story(.change, id: evil, state: evil)
        story.waits = [Story.Wait(ChangeWait(.identity))]
        story.waits[0].sentence = evil
        story.waits[0].until = evil
        var delivery = NotificationEntry.sample(evil)
        delivery.deepLink = evil
        let action = ActionReport(
            notificationID: evil,
            action: .snooze,
            doneAt: evil,
            already: true,
            repetition: evil,
            repeatsAt: evil,
            deepLink: evil
        )
        let texts = [
            StarsCommand.archive([ArchivedStarsReport(archivedAt: evil, planIDs: [evil])]),
            IdentityCommand.details(IdentityReport(did: evil, generation: 1, pseudonym: evil)),
            IdentityCommand.removal(IdentityRemovalReport(keptUntil: evil)),
            NotificationsCommand.list([delivery]), NotificationsCommand.details(delivery),
            NotificationsCommand.line(action),
            ExplainArguments.page(story), TextTable.pairs([(evil, evil)]), TextTable(rows: [[evil, evil]]).text,
            DigestsCommand.line(
                DigestShowReport(digest: evil, notificationID: evil, text: evil, contentAt: evil, state: evil)
            ),
            CommandError(ControlError(.failed, evil))!.lines.joined(),
            CommandError.usage(evil).lines.joined(),
        ]
        for text in texts { #expect(!text.contains("\u{1B}") && text.contains("a?]0;x?"), "\(text.debugDescription)") }
    }

    @Test func theLossOfAnExportNamesTheAgentThatHasTheDeadLetters() {
        let lost = ["notification_outbox.name": 1]
        #expect(
            AccountExportReport(bundle: "", lost: lost).loss == """
                1 encrypted value did not open and is lost: 1 of notification_outbox.name. \
                Changes that were not delivered yet become dead letters of the agent that imports the account; \
                see starwatch outbox list --state dead there.
                """
        )
        #expect(lost.lossSentence().hasSuffix("dead letters; see starwatch outbox list --state dead."))
    }

    @Test func theLinesOfSeveralPollsAreOneLineThatNamesAll() throws {
        var entry = NotificationEntry.sample("ntf_1")
        entry.body = "Two updates\nAn offer"
        entry.polls = ["starred_projects", "my_offers"]
        entry.changes = [.init(row: 3, jwtID: "01J", state: .delivered, poll: "my_offers"), .init(jwtID: "01K")]
        for text in [NotificationsCommand.list([entry]), NotificationsCommand.details(entry)] {
            #expect(text.contains("Two updates; An offer"), "\(text)")
            #expect(text.contains("starred_projects, my_offers"), "\(text)")
        }
        #expect(NotificationsCommand.details(entry).contains("01J, row 3, delivered, my_offers\n"))
        #expect(NotificationsCommand.details(entry).hasSuffix("01K, row deleted"))
        var story = Story(.notification, id: "ntf_1", state: "delivered")
        (story.poll, story.polls) = ("starred_projects", entry.polls)
        #expect(ExplainArguments.page(story).contains("starred_projects, my_offers"))
        let time = try #require(Timestamp(iso8601: "2026-01-01T12:00:00Z"))
        let message = NotificationMessage(canary: "ntf_1", runID: "run_1", createdAt: time)
        let json = String(decoding: message.json(), as: UTF8.self).replacing("arrive. It", with: #"arrive\nIt"#)
        let event = FeedEvent(sequence: 1, name: "notification", data: json)
        let line = try #require(NotificationsFollowCommand.line(event, json: false))
        #expect(line.hasSuffix("that notifications arrive; It announces nothing."), "\(line)")
    }

    @Test(arguments: [
        ("2026-01-01T12:00:00.400Z", "now"), ("2026-01-01T11:59:48Z", "12 s ago"),
        ("2026-01-01T12:14:00Z", "in 14 min"),
        ("2026-01-01T09:00:00Z", "3 h ago"), ("2025-12-20T12:00:00Z", "12 d ago"), ("nonsense", "-"),
    ])
    func timesAreRelative(_ time: String, _ text: String) {
        #expect(StatusCommand.age(of: time, Timestamp(iso8601: "2026-01-01T12:00:00Z")!) == text)
    }

    @Test func aPollReportIsOneLine() {
        var report = PollReport(poll: "starred_projects", outcome: "changed", runID: "r")
        report.fetched = 3
        report.new = 2
        report.notifications = 1
        report.acknowledged = 2
        report.watermarkMoved = true
        #expect(
            PollArguments.line(report)
                == "starred_projects: changed: 3 fetched, 2 new, 1 notified, 2 acknowledged, watermark moved"
        )
        (report.undelivered, report.unacknowledged) = (0, 0)
        #expect(PollArguments.line(report).hasSuffix(", watermark moved"))
        (report.undelivered, report.unacknowledged) = (3, 1)
        #expect(PollArguments.line(report).hasSuffix("moved; 3 waiting for delivery, 1 waiting for acknowledgement"))
        report.outcome = "skipped"
        report.reason = "no_stars"
        #expect(PollArguments.line(report) == "starred_projects: skipped (no_stars)")
    }

    @Test func aStoryIsATableOfStepsAndItsWaits() {
        var story = Story(.change, id: "chg_1", state: "claimed")
        story.row = 17
        story.runID = "run_1"
        var fetched = Story.Step(.fetched, at: "2026-01-01T12:00:00.000Z")
        fetched.page = 1
        fetched.attempt = 1
        fetched.tookMilliseconds = 12
        fetched.requestID = "a"
        fetched.serverRequestID = "req_1"
        var attempt = Story.Step(.attempt, at: "2026-01-01T12:00:01.250Z")
        attempt.afterMilliseconds = 1250
        attempt.sink = "hook"
        attempt.attempt = 1
        attempt.result = "rejected"
        (attempt.reason, attempt.sentence) = ("http_400", "No.")
        story.steps = [fetched, attempt]
        story.waits = [.init(ChangeWait(.rejected, until: Timestamp(iso8601: "2026-01-01T12:00:02Z")!, sink: "hook"))]
        #expect(
            ExplainArguments.page(story) == """
                Change  chg_1
                Row     17
                State   claimed
                Run     run_1

                TIME                       AFTER  STEP     DETAILS
                2026-01-01T12:00:00.000Z          fetched  page 1, took 12 ms, request a, server's id req_1
                2026-01-01T12:00:01.250Z  +1.2 s  attempt  sink hook: rejected, attempt 1, http_400: No.

                Waits: Sink hook rejected the notification and is tried again. Until 2026-01-01T12:00:02.000Z.
                """
        )
        story.waits = []
        #expect(ExplainArguments.page(story).hasSuffix("It waits for nothing."))
    }

    @Test func outboxRowsAreATable() {
        var row = OutboxEntry(
            id: 7,
            poll: "starred_projects",
            state: .dead,
            jwtID: "01J",
            plan: "p",
            attempts: 3,
            createdAt: "2026-01-01T12:00:00.000Z"
        )
        row.name = "Garden"
        #expect(
            OutboxCommand.list([row]) == """
                ID  STATE  POLL              TRIES  CREATED                   NAME
                 7  dead   starred_projects      3  2026-01-01T12:00:00.000Z  Garden
                """
        )
        var acknowledged = row
        acknowledged.state = .acknowledged
        acknowledged.undeliveredTo = ["hook"]
        #expect(OutboxCommand.list([acknowledged]).contains(" 7  acknowledged (not hook)  starred_projects "))
        var held = row
        (held.state, held.heldBy, held.heldUntil) = (.claimed, ["mail", "phone"], "2026-01-02T07:00:00.000Z")
        #expect(
            OutboxCommand.list([held]).contains(" 7  claimed (mail, phone from 2026-01-02T07:00:00.000Z)  starred_")
        )
        var unreadable = row
        unreadable.reason = .unreadable
        #expect(OutboxCommand.list([unreadable]).contains(" 7  dead (unreadable)  starred_projects "))
        #expect(OutboxCommand.details(unreadable).contains("\nReason        A stored value of it does not open, so "))
        #expect(OutboxCommand.list([]) == "No rows.")
        var turned = row
        turned.name = "\u{202E}גן"
        for text in [OutboxCommand.list([turned]), OutboxCommand.details(turned)] {
            #expect(text.contains("\u{2068}גן\u{2069}"), "a name turns the text around it")
        }
        var quiet = row
        (quiet.state, quiet.reason) = (.suppressed, .own)
        #expect(OutboxCommand.list([quiet]).contains(" 7  suppressed (your own claim)  starred_projects "))
        #expect(OutboxCommand.details(quiet).contains("Your own claim; set delivery.announce_own: true to be told."))
        (quiet.reason, quiet.announcedBy) = (.announced, "offers")
        #expect(OutboxCommand.details(quiet).contains("Poll offers announces the same claim."))
        #expect(OutboxCommand.details(row).contains("\nNotification  -"))
        #expect(OutboxCommand.limitNote("rows", ids: [9, 7], limit: 2)?.contains("--before 7") == true)
        #expect(OutboxCommand.limitNote("rows", ids: [9], limit: 2) == nil)
        row.deliveries = [
            .init(
                sink: "phone",
                state: "pending",
                attempts: 4,
                rejections: 1,
                nextAttemptAt: "2026-01-01T12:01:00.000Z",
                updatedAt: "2026-01-01T12:00:00.000Z"
            )
        ]
        let line = "Sink phone    pending, tries 4, refused 1, next 2026-01-01T12:01:00.000Z"
        #expect(OutboxCommand.details(row).contains("\n" + line))
        row.deliveries?[0].reason = "http_503"
        let failed = "Sink phone    pending, tries 4, refused 1, last HTTP 503, next 2026-01-01T12:01:00.000Z"
        #expect(OutboxCommand.details(row).contains("\n" + failed))
    }

    @Test func quarantinedItemsHaveALineForEachFault() {
        let item = QuarantineEntry(
            id: 12,
            poll: "offers",
            kind: "schema",
            jwtID: nil,
            issues: [
                .init(path: "$.data[3].handleId", problem: "missing"),
                .init(path: "$.data[3].jwtId", problem: "invalid"),
            ],
            page: 2,
            runID: "run_1",
            times: 5,
            createdAt: "2026-01-01T11:00:00.000Z",
            seenAt: "2026-01-01T12:00:00.000Z"
        )
        #expect(
            QuarantineCommand.list([item]) == """
                ID  POLL    KIND    SEEN                      TIMES  PAGE  PATH                PROBLEM
                12  offers  schema  2026-01-01T12:00:00.000Z      5     2  $.data[3].handleId  missing
                                                                           $.data[3].jwtId     invalid
                """
        )
        #expect(QuarantineCommand.list([]) == "No items.")
        #expect([1.counted("item"), 2.counted("item")] == ["1 item", "2 items"])
    }

    @Test func theStatusPageIsReadable() throws {
        var status = AgentStatus(
            version: "1.2.3",
            startedAt: Timestamp(iso8601: "2026-01-01T09:00:00Z")!,
            now: Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        )
        status.status = .degraded
        let staleSince = Timestamp(iso8601: "2026-01-01T11:00:00Z")
        status.problems = [
            Problem(.stale, of: "starred_projects", "poll starred_projects is stale", since: staleSince),
            Problem(.ledgerImbalance, "the outbox counters are inconsistent"),
        ].map(AgentStatus.Problem.init)
        status.headline = "Polling stopped: sink hook down for 13 min, outbox 80 % full"
        status.outbox.givenUp = 2
        status.identity = "did:hash:ab12"
        var poll = AgentStatus.Poll(kind: .starredProjects, stale: true, staleAfterSeconds: 14_400)
        poll.lastSuccess = "2026-01-01T07:00:00Z"
        poll.lastOutcome = "failed"
        poll.nextRun = "2026-01-01T12:15:00Z"
        poll.watermarkTime = "2026-01-01T06:59:00Z"
        poll.lastNew = "2026-01-01T05:00:00Z"
        poll.seenUntil = "2026-01-01T06:59:30Z"
        status.clock.serverTime = "2026-01-01T12:00:00Z"
        poll.skipReason = .circuitOpen
        poll.skippedSince = "2026-01-01T11:47:00.000Z"
        status.outbox.waiting = [
            "hook": .init(
                notifications: 3,
                since: "2026-01-01T11:40:00.000Z",
                nextAttempt: "2026-01-01T12:01:00.000Z"
            ),
            "phone": .init(
                notifications: 2,
                since: "2026-01-01T19:00:00.000Z",
                nextAttempt: "2026-01-01T19:00:00.000Z"
            ),
        ]
        status.outbox.waiting?["phone"]?.held = 5
        var day = AgentStatus.LastDay()
        (day.stored, day.delivered, day.acknowledged, day.failed) = (57, 54, 50, 1)
        status.outbox.lastDay = day
        status.polls = [
            "starred_projects": poll,
            "mine": AgentStatus.Poll(kind: .offersToMe, stale: false, staleAfterSeconds: 60),
        ]
        status.outbox.pending = 2
        status.outbox.claimed = 1
        status.outbox.delivered = 40
        status.outbox.dead = 1
        status.outbox.quarantined = 2
        status.outbox.capacity = 1000
        status.outbox.oldestPending = "2026-01-01T11:58:01Z"
        status.outbox.sinks = ["log": "closed", "hook": "open"]
        status.outbox.sinkReasons = ["hook": "dns"]
        status.clock.skewSeconds = -0.0125
        status.clock.uncertaintySeconds = 0.5
        status.clock.lastSync = "2026-01-01T11:57:00Z"
        status.lastScrape = "2026-01-01T11:59:45Z"
        status.server.dialect = .endorser
        status.server.throttledUntil = "2026-01-01T12:01:00Z"
        status.server.requestsLeft = 38
        status.server.tokenExpires = "2026-01-01T12:50:00Z"
        status.server.keyCreated = "2025-12-29T12:00:00Z"
        status.certificates = ["hook": "2026-01-01T11:00:00Z", "server": "2026-02-01T12:00:00Z"]
        status.memory = AgentStatus.Memory(residentBytes: 33 << 20, settledBytes: 31 << 20)
        status.storage = AgentStatus.Storage(encrypted: true, reencryption: 0.43)
        let zones = #"{"source":"machine","version":"2026a","folder":"/z","local":"Asia/Tokyo","local_source":"TZ"}"#
        status.timeZones = try JSONDecoder().decode(AgentStatus.TimeZones.self, from: Data(zones.utf8))
        #expect(
            StatusCommand.page(status) == """
                Status    degraded: Polling stopped: sink hook down for 13 min, outbox 80 % full
                Identity  did:hash:ab12
                Agent     starwatch 1.2.3, up 3 h

                PROBLEM                               SINCE    NEXT COMMAND
                Poll starred_projects is stale        1 h ago  starwatch poll starred_projects
                The outbox counters are inconsistent  -        -

                POLL              STATE  LAST SUCCESS  OUTCOME  LAST NEW  BEHIND  NEXT RUN   WATERMARK
                mine              new    never         -        -         -       -          -
                starred_projects  stale  5 h ago       failed   7 h ago   5 h     in 15 min  2026-01-01T06:59:00Z

                Poll starred_projects  skipped for 13 min: the server failed repeatedly, so requests pause

                Outbox        3 of 1000 waiting (2 pending, 1 claimed), 40 unacknowledged, 1 dead, 2 given up
                Waiting       3 notifications wait for sink hook for 20 min (next attempt in 1 min)
                Waiting       2 notifications wait for sink phone (next attempt in 7 h; its hours hold 5 changes)
                Last 24 h     57 stored, 54 delivered, 50 acknowledged, 1 failed
                Oldest        pending 1 min 59 s ago, due none
                Backpressure  off
                Quarantined   2 invalid items of the server
                Counters      consistent

                SINK  CIRCUIT  LAST SUCCESS  WAITING  LAST FAILURE
                hook  open     -             -        the name does not resolve
                log   closed   -             -        -

                Server        dialect endorser, circuit closed, throttled, next request in 1 min
                Requests      none within 15 min; the limits allow 38 more this minute
                Clock         the server's is 0.013 s behind ours ± 0.500 s, compared 3 min ago
                Scraped       15 s ago
                Token         expires in 50 min, key created 3 d ago
                Memory        33 MiB resident, 31 MiB 10 min after the start
                Database      encrypted, rotation of its keys 43 % done
                Certificates  hook expired 1 h ago, server expires in 31 d
                Time zones    tzdata 2026a in /z; the machine's own is Asia/Tokyo, from TZ.

                """
        )
    }

    @Test func thePathOfARefusedFileIsBelowTheProblemsAndPercentilesAreNamed() {
        var facts = HealthFacts()
        facts.refusedReload = RefusedReload("/etc/starwatch/starwatch.yaml:14: server.url: must be a URL.")
        let now = Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        var status = AgentStatus(version: "1.2.3", startedAt: now, now: now)
        let problems = HealthDecision.problems(facts, now: now)
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        var answers = AnswerWindow.Summary()
        (answers.requests, answers.p95, answers.usual) = (20, 0.012, 0.01)
        status.server.answers = AgentStatus.Answers(answers)
        let page = StatusCommand.page(status)
        let title = "The changed configuration was refused: starwatch.yaml:14"
        #expect(page.contains("Status    degraded: \(title)\n"))
        #expect(page.contains("\(title)  -      starwatch check\n"))
        #expect(page.contains("\(title)  /etc/starwatch/starwatch.yaml:14: server.url: must be a URL.\n"))
        #expect(page.contains("Requests  20 within 15 min, 0 failed, p95 12 ms (usually 10 ms)\n"))
    }

    @Test func aPollThatLeavesOutProjectsSaysSo() throws {
        let now = Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        var status = AgentStatus(version: "1.2.3", startedAt: now, now: now)
        var poll = AgentStatus.Poll(kind: .givesToMyProjects, stale: false, staleAfterSeconds: 14_400)
        (poll.ownProjects, poll.projectsLeftOut) = (100, true)
        status.polls = ["gifts": poll]
        #expect(StatusCommand.page(status).contains("Poll gifts  The poll asks for 100 projects of the account"))
    }

    @Test func problemsOfOneCauseAreOneLineWithACount() {
        var facts = HealthFacts()
        facts.polls = (1...8).map { number in
            var poll = HealthFacts.Poll(name: "p\(number)")
            (poll.isRefused, poll.staleSince) = (true, Timestamp(seconds: 0))
            return poll
        }
        let now = Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        var status = AgentStatus(version: "1.2.3", startedAt: now, now: now)
        let problems = HealthDecision.problems(facts, now: now)
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        #expect(status.reasons.count == 16 && status.shownProblems?.count == 1)
        let title = "The server refuses the credentials of poll p1 (and 7 more polls; 8 polls are stale)"
        let page = StatusCommand.page(status)
        #expect(page.contains("Status    degraded: \(title)\n"))
        #expect(page.contains("\n\(title)  -      starwatch doctor\n"))
        #expect(!page.contains("is stale\n") && !page.contains("poll p2"))
    }

    @Test func jsonIsSortedAndPlain() throws {
        #expect(try JSONOutput.encode(["b/c": 1, "a": 2]) == "{\n  \"a\" : 2,\n  \"b/c\" : 1\n}")
    }
}

extension NotificationEntry {
    /// A notification whose texts are all `text`.
    fileprivate static func sample(_ text: String) -> NotificationEntry {
        NotificationEntry(
            row: 1,
            id: text,
            poll: text,
            state: text,
            group: text,
            count: 1,
            title: text,
            body: text,
            createdAt: text,
            offers: [text],
            actions: []
        )
    }
}

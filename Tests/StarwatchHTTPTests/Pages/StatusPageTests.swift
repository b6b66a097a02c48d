import Foundation
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

extension AgentStatus {
    /// Shows these problems as a reporter does.
    mutating func show(_ problems: StarwatchCore.Problem...) {
        take(problems, headline: problems.first?.title)
    }
}

@Suite struct StatusPageTests {
    static var healthy: AgentStatus {
        let now = Timestamp(seconds: 1_767_268_800)  // 2026-01-01T12:00:00Z
        var status = AgentStatus(version: "1.0.0", startedAt: .init(seconds: now.wholeSeconds - 273_600), now: now)
        status.identity = "did:hash:4f1d2c9ab07e"
        var stars = AgentStatus.Poll(kind: .starredProjects, stale: false, staleAfterSeconds: 14_400)
        stars.lastAttempt = "2026-01-01T11:55:00.000Z"
        stars.lastSuccess = "2026-01-01T11:55:00.000Z"
        stars.lastOutcome = "unchanged"
        stars.nextRun = "2026-01-01T12:10:00.000Z"
        stars.watermarkTime = "2026-01-01T09:12:31.000Z"
        stars.fetchCursorTime = "2026-01-01T09:12:31.000Z"
        status.polls["starred_projects"] = stars
        var offers = AgentStatus.Poll(kind: .offersToMe, stale: false, staleAfterSeconds: 14_400)
        offers.skipReason = .noIdentity
        offers.nextRun = "2026-01-01T12:30:00.000Z"
        status.polls["offers_to_me"] = offers
        status.outbox.pending = 12
        status.outbox.claimed = 3
        status.outbox.delivered = 1841
        status.outbox.capacity = 1000
        status.outbox.oldestPending = "2026-01-01T11:58:47.000Z"
        status.outbox.sinks = ["log": "closed", "phone": "closed"]
        status.clock.skewSeconds = 0.042
        status.clock.uncertaintySeconds = 0.0605
        status.clock.lastSync = "2026-01-01T11:57:12.000Z"
        status.server.dialect = .endorser
        return status
    }

    private static let staleSince = Timestamp(iso8601: "2026-01-01T10:59:59.000Z")

    static var degraded: AgentStatus {
        var status = healthy
        status.show(
            Problem(.sinkDisabled, of: "phone", "sink phone disabled"),
            Problem(.stale, of: "starred_projects", "poll starred_projects is stale", since: staleSince),
            Problem(.deadLetters, "17 dead letters"),
            Problem(.quarantined, "4 invalid items"),
            Problem(.backpressure, "outbox 84 % full")
        )
        status.polls["starred_projects"]?.stale = true
        status.polls["starred_projects"]?.lastSuccess = "2026-01-01T06:59:59.000Z"
        status.polls["starred_projects"]?.lastOutcome = "failed"
        status.polls["starred_projects"]?.nextRun = "2026-01-01T11:59:00.000Z"
        status.polls["starred_projects"]?.fetchCursorTime = "2026-01-01T10:00:00.000Z"
        status.outbox.pending = 845
        status.outbox.dead = 17
        status.outbox.quarantined = 4
        status.outbox.backpressure = true
        status.outbox.ledgerImbalance = 2
        status.outbox.oldestDue = "2025-12-31T23:00:00.000Z"
        status.outbox.sinks["phone"] = "disabled"
        status.clock.skewSeconds = -37.5
        status.server.circuit = "half_open"
        status.server.throttledUntil = "2026-01-01T12:00:45.000Z"
        status.digests = digests
        return status
    }

    private static var digests: [String: AgentStatus.Digest] {
        var daily = AgentStatus.Digest(timezone: "Europe/Zurich")
        daily.nextRun = "2026-01-02T07:00:00.000Z"
        daily.lastRun = "2026-01-01T07:00:00.000Z"
        daily.lastStatus = .shown
        var weekly = daily
        weekly.lastStatus = .error
        weekly.lastErrorCode = .noSink
        return ["daily": daily, "weekly": weekly]
    }

    @Test(arguments: SlotCode.allCases)
    func everyReasonOfADigestHasHelp(code: SlotCode) {
        #expect(HelpPage().frame.main.text.contains("<th scope=\"row\"><code>\(code.rawValue)</code></th>"))
    }

    @Test func digestsSayWhenTheyComeAndHowTheyFared() {
        var status = Self.healthy
        #expect(!page(status).contains("Digests"))
        status.digests = Self.digests
        status.digests["idle"] = AgentStatus.Digest(timezone: "UTC")
        status.digests["quiet"] = status.digests["daily"]
        status.digests["quiet"]?.lastStatus = .skipped
        let page = page(status)
        #expect(page.contains("<caption id=\"digests\">Digests</caption>"))
        #expect(page.contains(">in 19 h <small>2026-01-02 07:00:00 UTC</small></time>"))
        #expect(page.contains(">5 h ago <small>07:00:00 UTC</small></time>"))
        #expect(page.contains("<div>Europe/Zurich</div>"))
        #expect(page.contains("<span class=\"pill good\">Shown</span>"))
        #expect(page.contains("<span class=\"pill bad\">Not shown</span><small>no sink</small>"))
        #expect(page.contains("<span class=\"pill\">No news</span>"))
        #expect(page.contains("<span class=\"none\">not yet</span>"))
        status.polls = [:]
        #expect(!self.page(status).contains("Nothing to do"))
    }

    func page(_ status: AgentStatus, canControl: Bool = false) -> String {
        StatusPage(status: status, canControl: canControl).frame.html(nonce: "n", canControl: canControl).text
    }

    @Test func aHealthyAgentIsSaidToBeWellAndWhatItDoes() {
        let page = page(Self.healthy)
        #expect(page.contains("<title>All is well – Starwatch</title>"))
        #expect(page.contains("<h1 id=\"verdict\">All is well</h1>"))
        #expect(
            page.contains("1 of 2 polls are fresh. One poll does not run now. 15 changes wait to be delivered.")
        )
        #expect(page.contains("<span class=\"pill good\">Fresh</span>"))
        #expect(page.contains("<span class=\"pill warn\">No identity</span>"))
        var status = Self.healthy
        status.polls["offers_to_me"]?.skipReason = nil
        #expect(self.page(status).contains("1 of 2 polls are fresh. One poll has not succeeded yet."))
        status.reasons = ["endpoint_missing:offers_to_me"]
        #expect(self.page(status).contains("<span class=\"pill warn\">No endpoint</span>"))
        #expect(!page.contains("class=\"banner"))
        #expect(page.contains(">5 min ago <small>11:55:00 UTC</small></time>"))
        #expect(page.contains(">in 10 min <small>12:10:00 UTC</small></time>"))
        #expect(page.contains("15 of 1000 places taken"))
        #expect(page.contains("+42 ms <small>± 60 ms</small>"))
        #expect(page.contains("content=\"30\""))
    }

    @Test func problemsOfOneCauseAreOneItemWithACount() {
        var status = Self.healthy
        let polls: [String] = ["a", "b", "c"]
        let refused = polls.map { Problem(.credentialsRefused, of: $0, "poll \($0) is refused", reason: "http_401") }
        let problems = refused + polls.map { Problem(.stale, of: $0, "poll \($0) is stale") }
        status.take(problems, headline: HealthDecision.headline(problems, HealthFacts()))
        let page = page(status)
        #expect(page.contains(">Poll a is refused (and 2 more polls; 3 polls are stale)</h1>"))
        #expect(page.components(separatedBy: "<li>").count == 2 && !page.contains("oll b is"))
    }

    @Test func noFailedRequestIsHiddenInACount() {
        var status = Self.healthy
        var answers = AnswerWindow.Summary()
        (answers.requests, answers.refused) = (44, 44)
        status.server.answers = AgentStatus.Answers(answers)
        #expect(page(status).contains("<dd>44 within 15 min, <span class=\"bad\">44 failed</span></dd>"))
    }

    @Test func everyProblemHasItsStartItsMeaningAndItsCommandAndTheGravestIsFirst() throws {
        let page = page(Self.degraded)
        let sentences = [
            "<b>Sink phone disabled.</b>", "<code>starwatch sinks test phone</code>",
            "<b>Poll starred_projects is stale since ",
            "The last success is older than the poll’s <code>stale_after</code>.",
            "<code>starwatch poll starred_projects</code>", "<b>17 dead letters.</b>",
            "<code>starwatch outbox list --state dead</code>", "<b>4 invalid items.</b>",
            "<code>starwatch quarantine list</code>", "<b>Outbox 84 % full.</b>",
        ]
        let places = try sentences.map { try #require(page.range(of: $0)?.lowerBound, "\($0)") }
        #expect(places == places.sorted())
    }

    @Test func theHeadlineOfADegradedAgentIsThePagesTitle() {
        var status = Self.degraded
        let headline = "Polling stopped: sink phone down for 13 min, outbox 84 % full"
        status.headline = headline
        let page = page(status)
        #expect(page.contains("<title>\(headline) – Starwatch</title>"))
        #expect(page.contains(">\(headline)</h1>"))
    }

    @Test(arguments: Problem.Kind.allCases)
    func everyProblemIsExplained(kind: Problem.Kind) {
        var status = Self.degraded
        let problem = Problem(kind, of: "starred_projects", "something is wrong")
        status.show(problem)
        let page = page(status)
        #expect(page.contains("<title>Something is wrong – Starwatch</title>"))
        #expect(page.contains("<ul><li>") && !page.contains("<b>Something is wrong"))
        #expect(problem.command.map { page.contains("<code>\($0)</code> ") } ?? true)
        #expect(HelpPage().frame.main.text.contains("<code>\(kind.rawValue)</code>"))
        #expect(kind.meaning.last == "." && !kind.meaning.contains("\n") && kind.meaning.count { $0 == "`" } % 2 == 0)
    }

    @Test func thePageHasWhatTheTextOfStatusHas() throws {
        var status = Self.healthy
        let plain = page(status)
        for word in ["Canary", "<dt>Token", "<dt>Key", "<dt>Certificate"] {
            #expect(!plain.contains(word), "\(word) is not configured")
        }
        status.polls["starred_projects"]?.lastNew = "2026-01-01T09:00:00.000Z"
        status.polls["starred_projects"]?.seenUntil = "2026-01-01T11:54:00.000Z"
        status.clock.serverTime = "2026-01-01T12:00:00.000Z"
        status.memory = AgentStatus.Memory(residentBytes: 33 << 20, settledBytes: 31 << 20)
        let zones = #"{"source":"machine","version":"2026a","folder":"/z","local":"Asia/Tokyo"}"#
        status.timeZones = try JSONDecoder().decode(AgentStatus.TimeZones.self, from: Data(zones.utf8))
        status.server.tokenExpires = "2026-01-01T12:50:00.000Z"
        status.server.keyCreated = "2025-12-29T12:00:00.000Z"
        status.certificates = ["port:http": "2026-01-05T12:00:00.000Z"]
        var answers = AnswerWindow.Summary()
        (answers.requests, answers.p95, answers.usual) = (20, 0.012, 0.01)
        status.server.answers = AgentStatus.Answers(answers)
        let start = Timestamp(seconds: 1_767_262_200)  // 10:10:00
        func canary(_ arrival: Timestamp?) -> AgentStatus.Canary {
            AgentStatus.Canary(HealthFacts.Canary(every: .seconds(3600), lastArrival: arrival, startedAt: start))
        }
        status.canary = canary(start + .seconds(3600))
        let page = page(status)
        let parts = [
            "<dt>Time zone</dt><dd>Asia/Tokyo <small>tzdata 2026a, machine</small></dd>",
            "<td data-label=\"Last new\"><div><time datetime=\"2026-01-01T09:00:00.000Z\">3 h ago ",
            "<td data-label=\"Behind\"><div>6 min</div>",
            "<dt>Memory</dt><dd>33 MiB <small>31 MiB 10 min after the start</small></dd>",
            "<dt>Token</dt><dd>expires <time datetime=\"2026-01-01T12:50:00.000Z\">in 50 min ",
            "<dt>Key</dt><dd>created <time datetime=\"2025-12-29T12:00:00.000Z\">3 d ago ",
            "<dt>Certificate of port:http</dt><dd>expires <time datetime=\"2026-01-05T12:00:00.000Z\">in 4 d ",
            "<dt>Latency</dt><dd>p95 12 ms <small>usually 10 ms</small></dd>",
            "<dt>Canary</dt><dd><time datetime=\"2026-01-01T11:10:00.000Z\">50 min ago ",
            "<small>every 1 h</small></dd>",
        ]
        for part in parts { #expect(page.contains(part), "\(part)") }
        status.canary = canary(nil)
        status.show(
            Problem(.canaryLate, "the canary does not arrive"),
            Problem(.behind, of: "starred_projects", "behind")
        )
        let late = self.page(status)
        let none = "<span class=\"bad\"><span class=\"none\">none has arrived yet</span></span>"
        #expect(late.contains("<dt>Canary</dt><dd>\(none)"))
        #expect(late.contains("<td data-label=\"Behind\"><div><span class=\"bad\">6 min</span></div>"))
    }

    @Test func thePathOfARefusedFileIsInTheDetailsAndNotInTheTitle() {
        var facts = HealthFacts()
        facts.refusedReload = RefusedReload("/etc/starwatch/starwatch.yaml:14: server.url: must be a URL.")
        var status = Self.healthy
        let problems = HealthDecision.problems(facts, now: Timestamp(seconds: 0))
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        let page = page(status)
        #expect(page.contains(">The changed configuration was refused: starwatch.yaml:14</h1>"))
        #expect(page.contains("<li>/etc/starwatch/starwatch.yaml:14: server.url: must be a URL. "))
        #expect(page.matches(of: /\/etc\/starwatch/).count == 1)
    }

    @Test func aFailingPollIsNotShownAsFreshAndItsReasonIsSaid() {
        var status = Self.degraded
        status.show(Problem(.failing, of: "starred_projects", "poll starred_projects fails: contract violated"))
        status.polls["starred_projects"]?.stale = false
        status.polls["starred_projects"]?.lastError = "The server's answer broke its contract."
        let page = page(status)
        #expect(
            page.contains(
                "<ul><li>The server&#39;s answer broke its contract. Next: <code>starwatch poll starred_projects</code> "
            )
        )
        #expect(page.contains("<span class=\"pill bad\">Failing</span>"))
    }

    @Test func aSinkThatRejectsEverythingIsNotShownAsWorking() {
        var status = Self.healthy
        status.outbox.sinks["phone"] = "rejecting"
        status.outbox.sinkReasons["phone"] = "http_404"
        #expect(page(status).contains("<span class=\"pill bad\">Rejecting</span> <small>HTTP 404</small>"))
        // A sink that failed once still works.
        status.outbox.sinks["phone"] = "closed"
        #expect(page(status).contains("<span class=\"pill good\">Working</span> <small>HTTP 404</small>"))
    }

    @Test func aPollThatNeedsAPersonSaysWhyAndWhatToDo() {
        var status = Self.healthy
        status.polls["starred_projects"]?.lastOutcome = "failed"
        status.polls["starred_projects"]?.needsAction = true
        status.polls["starred_projects"]?.lastReason = "http_403 error=forbidden scope=notifications:read"
        status.polls["starred_projects"]?.lastError = "The server denied access (403)."
        let page = page(status)
        #expect(page.contains("<span class=\"pill bad\">Needs action</span>"))
        #expect(
            page.contains(
                "<small>HTTP 403, forbidden, scope notifications:read</small>"
            )
        )
        #expect(page.contains("<b>Fails.</b> The server denied access (403)."))
        #expect(HelpPage().frame.main.text.contains("Needs action"))
    }

    @Test func aFailedPollSaysItsErrorItsSkipAndSinceWhen() {
        var status = Self.degraded
        status.polls["starred_projects"]?.lastError = "The connection failed; check the server and the network."
        status.polls["starred_projects"]?.failingSince = "2026-01-01T07:05:00.000Z"
        status.polls["starred_projects"]?.skipReason = .backpressure
        status.polls["starred_projects"]?.skippedSince = "2026-01-01T11:30:00.000Z"
        let text = page(status)
        #expect(
            text.contains(
                "<b>Fails since <time datetime=\"2026-01-01T07:05:00.000Z\"><small>07:05:00 UTC</small></time> (4 h"
            )
        )
        #expect(text.contains("</b> The connection failed; check the server and the network.</p>"))
        #expect(
            text.contains(
                "<b>Skipped since <time datetime=\"2026-01-01T11:30:00.000Z\"><small>11:30:00 UTC</small></time> (30 min)"
            )
        )
        #expect(text.contains("</b> the outbox is nearly full.</p>"))
        #expect(
            text.contains(".</b> The connection failed; check the server and the network. The last success is older")
        )
    }

    @Test func aPollThatLeavesOutProjectsSaysSo() {
        var status = Self.healthy
        status.polls["starred_projects"]?.ownProjects = 100
        status.polls["starred_projects"]?.projectsLeftOut = true
        #expect(page(status).contains("<b>Projects left out.</b> The poll asks for 100 projects"))
        status.polls["starred_projects"]?.projectsLeftOut = nil
        #expect(!page(status).contains("Projects left out"))
    }

    @Test func noPageSpeaksOfATap() {
        #expect(!page(Self.degraded, canControl: true).contains("Tap"))
    }

    @Test func claimedRowsAreShownAsWaitingForTheirSink() {
        var status = Self.healthy
        status.outbox.waiting = [
            "hook": .init(
                notifications: 3,
                since: "2026-01-01T11:20:00.000Z",
                nextAttempt: "2026-01-01T12:00:30.000Z"
            ),
            "phone": .init(
                notifications: 1,
                since: "2026-01-01T13:00:00.000Z",
                nextAttempt: "2026-01-01T13:00:00.000Z"
            ),
        ]
        let text = page(status)
        #expect(text.contains("<li>3 notifications wait for sink <code>hook</code> since <time "))
        #expect(text.contains("; next attempt <time datetime=\"2026-01-01T12:00:30.000Z\">in 30 s "))
        // A snoozed notification is due later.
        #expect(text.contains("<li>1 notification waits for sink <code>phone</code>; next attempt "))
    }

    @Test func aBusyAgentShowsTheTotalsOfTheLastDay() {
        var status = Self.healthy
        status.outbox.lastDay?.stored = 57
        status.outbox.lastDay?.delivered = 54
        status.outbox.lastDay?.acknowledged = 50
        status.outbox.lastDay?.failed = 2
        #expect(
            page(status).contains(
                "57 stored, 54 delivered, 50 acknowledged, <span class=\"bad\">2 failed</span></dd>"
            )
        )
        #expect(!page(status).contains("<dt>Delivered</dt>"))
    }

    @Test func theLinkToTheStoriesIsMarkupAndNotText() {
        #expect(page(Self.healthy, canControl: true).contains("<a href=\"explain\">Explain a change</a>"))
        #expect(!page(Self.healthy).contains("Explain a change"))
    }

    @Test func whoIsSignedOutIsNotToldThatAllIsWell() {
        var status = Self.healthy
        status.identity = nil
        #expect(page(status).contains("<title>Signed out – Starwatch</title>"))
        #expect(page(status).contains("nothing is polled. <code>starwatch identity set DID</code> signs in."))
    }

    @Test func anAgentWithoutPollsHasNothingToDo() {
        var status = Self.healthy
        status.polls = [:]
        #expect(page(status).contains("<title>Nothing to do – Starwatch</title>"))
        #expect(page(status).contains("There are no polls."))
    }

    @Test func aStoreThatCannotBeReadIsNotTakenForASignOut() {
        var status = Self.healthy
        status.identity = nil
        status.polls = [:]
        status.show(Problem(.storeUnavailable, "the database fails"))
        let page = page(status)
        #expect(page.contains("<ul><li>The database cannot be read."))
        #expect(page.contains("Not known while the database cannot be read."))
        #expect(!page.contains("igned out"))
        #expect(!page.contains("There are no polls."))
    }

    @Test func aServerThatAskedForAPauseIsNoProblemButIsSaid() {
        var status = Self.healthy
        status.server.throttledUntil = "2026-01-01T12:00:45.000Z"
        #expect(page(status).contains("<title>All is well"))
        #expect(page(status).contains("No request is sent for another 45 s."))
        status.server.throttledUntil = "2026-01-01T11:59:00.000Z"
        #expect(!page(status).contains("No request is sent"))
    }

    @Test func staleDataIsSaidInTheWordsOfTheRequirement() {
        let page = page(Self.degraded)
        #expect(page.contains("<h2 id=\"stale\">Data may be outdated</h2><p>Last updated 5 hours ago.</p>"))
        #expect(page.contains("due since 1 min"))
        #expect(page.contains("2025-12-31 23:00:00 UTC"))
        #expect(page.contains("47 min <time datetime=\"2026-01-01T09:12:31.000Z\"><small>09:12:31 UTC</small></time>"))
        #expect(page.contains("2 unaccounted for"))
        #expect(page.contains("45 s left"))
        #expect(page.contains("−37 s"))
    }

    @Test func refreshAndSettingsAreThereAndAButtonOnlyWhereItWorks() {
        let open = page(Self.degraded, canControl: true)
        #expect(open.contains("Last updated 5 hours ago.</p>"))
        #expect(
            open.contains(
                "<form method=\"post\" action=\"api/v1/polls/starred_projects/run\"><button>Refresh Now</button>"
            )
        )
        #expect(open.contains("<a class=\"button\" href=\"help#settings\">Settings</a>"))
        let closed = page(Self.degraded)
        #expect(!closed.contains("<form"))
        #expect(!closed.contains("<button"))
        #expect(!closed.contains("Refresh Now"))
        #expect(closed.contains("To refresh now, run <code>starwatch poll starred_projects</code>"))
        #expect(closed.contains("<a class=\"button\" href=\"help#settings\">Settings</a>"))
        #expect(HelpPage().frame.main.text.contains("id=\"settings\""))
        #expect(HelpPage().frame.main.text.contains("id=\"refresh\""))
    }

    @Test func eachOfSeveralStalePollsHasAButtonThatNamesIt() {
        var status = Self.degraded
        status.polls["offers_to_me"]?.stale = true
        let page = page(status, canControl: true)
        #expect(page.contains("action=\"api/v1/polls/offers_to_me/run\"><button>Refresh offers_to_me Now</button>"))
        #expect(
            page.contains("action=\"api/v1/polls/starred_projects/run\"><button>Refresh starred_projects Now</button>")
        )
    }
}

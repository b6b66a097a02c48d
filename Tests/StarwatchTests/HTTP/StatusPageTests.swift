import StarwatchCore
import Testing

@testable import Starwatch

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

    static var degraded: AgentStatus {
        var status = healthy
        status.status = .degraded
        status.reasons = ["stale_poll:starred_projects", "dead_letters", "sink_disabled:phone", "backpressure"]
        status.polls["starred_projects"]?.stale = true
        status.polls["starred_projects"]?.lastSuccess = "2026-01-01T06:59:59.000Z"
        status.polls["starred_projects"]?.lastOutcome = "failed"
        status.polls["starred_projects"]?.nextRun = "2026-01-01T11:59:00.000Z"
        status.polls["starred_projects"]?.fetchCursorTime = "2026-01-01T10:00:00.000Z"
        status.outbox.pending = 845
        status.outbox.dead = 17
        status.outbox.backpressure = true
        status.outbox.ledgerImbalance = 2
        status.outbox.oldestDue = "2025-12-31T23:00:00.000Z"
        status.outbox.sinks["phone"] = "disabled"
        status.clock.skewSeconds = -37.5
        status.server.circuit = "half_open"
        status.server.throttledUntil = "2026-01-01T12:00:45.000Z"
        return status
    }

    private func page(_ status: AgentStatus) -> String { StatusPage(status: status).html(nonce: "n").text }

    @Test func aHealthyAgentHasNoBanner() {
        let page = page(Self.healthy)
        #expect(page.contains("<span class=\"pill good\">Healthy</span>"))
        #expect(!page.contains("class=\"banner"))
        #expect(page.contains("5 min ago <small>11:55:00 UTC</small>"))
        #expect(page.contains("in 10 min <small>12:10:00 UTC</small>"))
        #expect(page.contains("15 of 1000 places taken"))
        #expect(page.contains("+42 ms <small>± 60 ms</small>"))
        #expect(page.contains("content=\"30\""))
    }

    @Test func staleDataIsSaidInTheWordsOfTheRequirement() {
        let page = page(Self.degraded)
        #expect(page.contains("<strong>Data may be outdated</strong> Last updated 5 hours ago."))
        #expect(page.contains("<li>Stale poll: <code>starred_projects</code></li>"))
        #expect(page.contains("<li>Dead letters</li>"))
        #expect(page.contains("due since 1 min"))
        #expect(page.contains("2025-12-31 23:00:00 UTC"))
        #expect(page.contains("47 min <small>at 09:12:31 UTC</small>"))
        #expect(page.contains("2 unaccounted for"))
        #expect(page.contains("45 s left"))
        #expect(page.contains("−37 s"))
    }

    @Test func aPollThatNeverSucceededIsNotGivenHours() {
        var status = Self.degraded
        status.polls["starred_projects"]?.lastSuccess = nil
        #expect(page(status).contains("<strong>Data may be outdated</strong> Not updated yet."))
    }

    @Test func aPollOfSecondsIsNotZeroHoursOld() {
        var status = Self.degraded
        status.polls["starred_projects"]?.lastSuccess = "2026-01-01T11:40:00.000Z"
        #expect(page(status).contains("Last updated 20 min ago."))
    }

    @Test func hostileNamesAreShownAsTextEverywhere() {
        let hostile = "\"><script>alert('1')</script>&"
        var status = AgentStatus(version: hostile, startedAt: .init(seconds: 0), now: .init(seconds: 1))
        status.identity = hostile
        status.reasons = [hostile, "a:" + hostile]
        status.startedAt = hostile
        var poll = AgentStatus.Poll(kind: .offersToMe, stale: true, staleAfterSeconds: .nan)
        poll.lastSuccess = hostile
        poll.lastAttempt = hostile
        poll.lastOutcome = hostile
        poll.nextRun = hostile
        poll.watermarkTime = hostile
        poll.fetchCursorTime = hostile
        status.polls[hostile] = poll
        status.outbox.oldestPending = hostile
        status.outbox.oldestDue = hostile
        status.outbox.sinks = [hostile: hostile]
        status.server.circuit = hostile
        status.server.throttledUntil = hostile
        status.clock.skewSeconds = .infinity
        let page = page(status)
        #expect(!page.contains("<script"))
        #expect(!page.contains("alert('"))
        #expect(page.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"))
    }

    @Test func numbersFarOutDoNotStopThePage() {
        var status = Self.healthy
        status.outbox.capacity = 0
        status.outbox.pending = .max / 2
        status.polls["starred_projects"]?.staleAfterSeconds = 0
        status.clock.skewSeconds = -1e300
        status.clock.uncertaintySeconds = .nan
        #expect(page(status).hasSuffix("</html>\n"))
    }

    @Test(arguments: [
        (0.0, "0 ms"), (0.9999, "999 ms"), (1, "1 s"), (2.5, "2.5 s"), (59.9, "59 s"), (60, "1 min"),
        (61, "1 min 1 s"), (600, "10 min"), (3599, "59 min"), (3600, "1 h"), (7500, "2 h 5 min"), (86_400, "1 d"),
        (273_600, "3 d 4 h"), (.infinity, "–"), (.nan, "–"),
    ])
    func durationsHaveTheirTwoLargestUnits(seconds: Double, text: String) {
        #expect(AgeText.duration(seconds) == text)
    }

    @Test func textIsEscapedAndMarkupIsNot() {
        let text = "<b class='x'>\"&\"</b>"
        let inner: HTML = "<i>\(text)</i>"
        let outer: HTML = "<p title=\"\(text)\">\([inner, inner])\(3)</p>"
        let escaped = "&lt;b class=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/b&gt;"
        #expect(inner.text == "<i>\(escaped)</i>")
        #expect(outer.text == "<p title=\"\(escaped)\"><i>\(escaped)</i><i>\(escaped)</i>3</p>")
    }
}

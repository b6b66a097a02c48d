import Foundation
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Texts and links of the status page that others decide.
extension StatusPageTests {
    @Test func dashboardsAreLinkedWhereTheyAreKnown() {
        let link = "https://grafana.example/d/a?x=1&y=\"2\""
        let page = StatusPage(status: Self.healthy).frame
            .html(nonce: "n", canControl: false, dashboards: link).text
        #expect(page.contains("<a href=\"https://grafana.example/d/a?x=1&amp;y=&quot;2&quot;\">Dashboards</a>"))
        #expect(!self.page(Self.healthy).contains("Dashboards"))
    }

    @Test func aPollThatNeverSucceededIsNotGivenHours() {
        var status = Self.degraded
        status.polls["starred_projects"]?.lastSuccess = nil
        #expect(page(status).contains("Not updated yet."))
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
        status.show(Problem(.failing, of: hostile, hostile))
        status.startedAt = hostile
        var poll = AgentStatus.Poll(kind: .offersToMe, stale: true, staleAfterSeconds: .nan)
        poll.lastSuccess = hostile
        poll.lastAttempt = hostile
        poll.lastOutcome = hostile
        poll.nextRun = hostile
        poll.watermarkTime = hostile
        poll.fetchCursorTime = hostile
        status.polls[hostile] = poll
        var digest = AgentStatus.Digest(timezone: hostile)
        digest.nextRun = hostile
        digest.lastRun = hostile
        digest.lastStatus = .error
        status.digests[hostile] = digest
        status.outbox.oldestPending = hostile
        status.outbox.oldestDue = hostile
        status.outbox.sinks = [hostile: hostile]
        status.server.circuit = hostile
        status.server.throttledUntil = hostile
        status.clock.skewSeconds = .infinity
        let page = page(status)
        #expect(page.split(separator: "<script").count == 2)
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

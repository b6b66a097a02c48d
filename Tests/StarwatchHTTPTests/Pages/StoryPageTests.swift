import ProgramTestKit
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct StoryPageTests {
    private func page(_ id: String?, _ edit: (inout StoryPage) -> Void = { _ in }) -> String {
        var page = StoryPage(id: id, times: PageTimes(now: Sample.time))
        edit(&page)
        return page.frame.html(nonce: "n", canControl: true).text
    }

    @Test func itShowsEveryStepAndWhatIsWaitedFor() {
        let text = page("chg_1") { $0.story = Sample.story("chg_1") }
        #expect(text.contains("sink hook: rejected, attempt 2, took 9 ms, http_400: &lt;No.&gt;"))
        #expect(text.contains("Sink hook rejected the notification and is tried again."))
        #expect(text.contains("<a href=\"explain?id=ntf_1\">"))
        #expect(text.contains("<a href=\"explain?id=run_1\">"))
        #expect(text.contains("<a href=\"explain?id=chg_1\">"))
    }

    @Test func aClaimWithoutARowShowsWhyEachPollHasNone() {
        var story = Story(.absent, id: "chg_1", state: "not_fetched")
        var covered = Story.Covered(poll: "news", reason: .notFetched, sentence: "The poll has not come to it yet.")
        (covered.runID, covered.runOutcome, covered.runAt) = ("run_1", "failed", Sample.time)
        story.coverage = [covered]
        let text = page("chg_1") { $0.story = story }
        #expect(text.contains("news <span class=\"pill\">not_fetched</span> The poll has not come to it yet."))
        #expect(text.contains("<a href=\"explain?id=run_1\">"))
        #expect(!text.contains("It waits for nothing."))
    }

    @Test func allPollsOfANotificationAreNamed() {
        var story = Story(.notification, id: "ntf_1", state: "delivered")
        story.poll = "news"
        let one = page("ntf_1") { $0.story = story }
        #expect(one.contains("<dt>Poll</dt><dd>news</dd>"))
        story.polls = ["news", "my_offers"]
        let several = page("ntf_1") { $0.story = story }
        #expect(several.contains("<dt>Poll</dt><dd>news, my_offers</dd>"))
    }

    @Test func theOtherRowsOfAChangeAreLinked() {
        var story = Sample.story("chg_1")
        story.otherRows = [18, 19]
        let text = page("chg_1") { $0.story = story }
        #expect(text.contains("<dt>Other rows</dt><dd><a href=\"explain?id=18\">"))
        #expect(text.contains("<a href=\"explain?id=19\">"))
    }

    @Test func anAttemptThatFailedIsMarked() {
        let text = page("chg_1") { $0.story = Sample.story("chg_1") }
        #expect(text.contains("<td class=\"failed\">attempt</td>"))
        #expect(text.contains("<td>claimed</td>"))
    }

    @Test func aTextOfTheFormIsTextAndNotMarkup() {
        let text = page("\"><script>alert(1)</script>") { $0.problem = "Nothing has that id." }
        #expect(!text.contains("<script>alert"))
        #expect(text.contains("Nothing has that id."))
    }

    @Test func withoutAnIDItIsAForm() {
        let text = page(nil)
        #expect(text.contains("<form class=\"card\" action=\"explain\" method=\"get\">"))
        #expect(!text.contains("<table>"))
    }

    @Test func aNotificationOfTheFeedLeadsToItsStory() {
        let feed = FeedPage(entries: [Sample.notification(1)], times: PageTimes(now: "1970-01-01T01:00:00.000Z")).frame
            .main.text
        #expect(feed.contains("<a href=\"explain?id=ntf_1\">Explain</a>"))
    }
}

/// The routes of stories and of the stored log.
@Suite struct StoryRouteTests {
    private func withClient(
        _ agent: FakeAgent,
        _ body: (ControlClient, HTTPProbe) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            try await withRunning(HTTPServer(agent: agent, socketPath: path, logger: quiet)) { address in
                try await body(ControlClient(socketPath: path, timeout: longestWait), HTTPProbe(address: address))
            }
        }
    }

    @Test func theClientAsksForAStory() async throws {
        let agent = FakeAgent()
        try await withClient(agent) { client, _ async throws in
            #expect(try await client.perform(ControlAPI.explain, "a/b c") == Sample.story("a/b c"))
            #expect(agent.now.calls == ["GET /api/v1/explain/a%2Fb%20c"])
        }
    }

    @Test func theClientAsksForLinesOfTheLog() async throws {
        let agent = FakeAgent()
        try await withClient(agent) { client, probe async throws in
            var query = LogQuery()
            query.since = Sample.time
            query.level = .warn
            query.run = "run_1"
            query.after = 3
            query.limit = 9
            #expect(try await client.perform(ControlAPI.listLogs, query).lines == [Sample.line])
            #expect(
                agent.now.calls == [
                    "GET /api/v1/logs?since=2026-01-01T12%3A00%3A00.000Z&level=warn&run=run_1&after=3&limit=9"
                ]
            )
            #expect(try await probe.get("/api/v1/logs?level=loud").status == 400)
        }
    }

    /// Dashboards link to it on the port that a browser reaches.
    @Test func theReadOnlyServerSaysWhereTheStoryIs() async throws {
        let agent = FakeAgent()
        try await withAdmin(agent) { probe in
            let page = try await probe.get("/explain?id=run_1%3Cb%3E")
            #expect(page.status == 200)
            #expect(page.text.contains("<code>starwatch explain run_1&lt;b&gt;</code>"))
            #expect(page.text.contains("<code>control.listen</code>") && !page.text.contains("<form"))
            #expect(try await probe.get("/explain").text.contains("<code>starwatch explain ID</code>"))
        }
        #expect(agent.now.calls == [])
    }

    @Test func anUnknownIDIsSaidOnThePage() async throws {
        let agent = FakeAgent { $0.failure = ControlError(.notFound, "Nothing stored has that id.") }
        try await withClient(agent) { _, probe async throws in
            let page = try await probe.get("/explain?id=chg_1")
            #expect(page.status == 200)
            #expect(page.text.contains("Nothing stored has that id."))
            #expect(try await probe.get("/explain").status == 200)
            #expect(agent.now.calls == ["GET /api/v1/explain/chg_1"])
        }
    }
}

import Foundation
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The status page of an agent with `accounts: many`, which has no active identity.
@Suite struct ManyAccountsPageTests {
    private static func page(
        active: Int,
        more: String = "",
        _ problems: [StarwatchCore.Problem] = []
    ) throws -> String {
        var status = StatusPageTests.healthy
        status.identity = nil
        status.polls["offers_to_me"] = nil
        let accounts =
            #"{"active":\#(active),"paused":3,"due":0,"stale":0,"without_address":0,"round_seconds":16\#(more)}"#
        status.accounts = try JSONDecoder().decode(AgentStatus.Accounts.self, from: Data(accounts.utf8))
        if let first = problems.first { status.take(problems, headline: first.title) }
        return StatusPage(status: status).frame.html(nonce: "n", canControl: false).text
    }

    @Test func aHealthyAgentIsSaidToBeWell() throws {
        let page = try Self.page(active: 7)
        #expect(page.contains("<h1 id=\"verdict\">All is well</h1>"))
        #expect(page.contains("The agent works for 7 accounts. The poll is fresh."))
        #expect(page.contains("<dt>Accounts</dt><dd>7 active <small>3 paused, 0 due</small></dd>"))
        #expect(page.contains("<dt>One round</dt><dd>takes at least 16 s</dd>"))
        #expect(!page.contains("signed out") && !page.contains("Identity"))
    }

    @Test func thePageSaysWhatSharedRequestsSave() throws {
        let page = try Self.page(active: 7, more: #","round_requests":15,"shared_requests":3,"shared_polls":40"#)
        #expect(page.contains("<dt>One round</dt><dd>takes 15 requests, at least 16 s</dd>"))
        #expect(page.contains("<dt>Shared requests</dt><dd>3 <small>37 saved since the start</small></dd>"))
        #expect(try !Self.page(active: 7).contains("Shared requests"))
    }

    @Test func withoutActiveAccountsTheNextCommandAddsOne() throws {
        var facts = HealthFacts()
        facts.isSignedOut = true
        facts.accounts = HealthFacts.Accounts(wait: .zero, round: .zero)
        let page = try Self.page(active: 0, HealthDecision.problems(facts, now: .init(seconds: 0)))
        #expect(page.contains("There are no active accounts"))
        #expect(page.contains("<code>starwatch accounts add DID</code>") && !page.contains("identity set"))
        #expect(page.contains("<dt>One round</dt><dd>none</dd>"))
    }

    @Test func thePageNamesTheWorstAccountsByTheirPseudonyms() throws {
        let failure = """
            {"poll":"offers","reason":"http_401","problem":"The server rejected the token (401); check auth.",\
            "since":"2026-01-01T00:00:00.000Z","failures":7,"next_try":"2026-01-01T12:15:00.000Z"}
            """
        let worst = #","failing":12,"worst":[{"account":"did:hash:0f3a5c7e9b1d2f40","failure":\#(failure)}]"#
        let page = try Self.page(active: 40, more: worst)
        #expect(page.contains("<caption id=\"failing\">Failing accounts</caption>"))
        #expect(page.contains("<code>did:hash:0f3a5c7e9b1d2f40</code>"))
        #expect(page.contains("The server rejected the token (401); check auth."))
        #expect(page.contains("11 more: <code>starwatch accounts list --failing</code>"))
        #expect(page.contains("<span class=\"bad\">12 failing</span>"))
        #expect(try !Self.page(active: 7, more: #","failing":0,"worst":[]"#).contains("Failing accounts"))
    }

    @Test func quietHoursForWhichTheWatermarkWaitsAreTheTitle() throws {
        var status = StatusPageTests.healthy
        status.notice = "Sink phone is quiet until 07:00:00 UTC: 12 changes and the watermark wait for it"
        let page = StatusPage(status: status).frame.html(nonce: "n", canControl: false).text
        #expect(page.contains("<h1 id=\"verdict\">Sink phone is quiet until 07:00:00 UTC"))
        #expect(page.contains("<p>All is well. "))
    }
}

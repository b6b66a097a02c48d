import Foundation
import Hummingbird
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The notifications as feed readers get them.
@Suite struct FeedDocumentTests {
    private func entry(
        _ sequence: Int64,
        body: String = "You have 2 new updates",
        name: String = "Creek",
        hasChanges: Bool = true,
        polls: [String]? = nil
    ) throws -> FeedEntry {
        let changes = [
            ["jwt_id": "j1", "plan": "p1", "name": name, "changed_at": "2026-01-01T11:59:00.000Z"],
            ["jwt_id": "j2", "plan": "p2", "name": "Farm", "changed_at": "2026-01-01T11:59:00.000Z"],
        ]
        var notification: [String: Any] = [
            "id": "ntf_" + String(repeating: "0", count: 30) + String(format: "%02x", sequence), "run_id": "run_1",
            "poll": "starred_projects", "group": "several", "collapse_key": "starred-projects", "count": 2,
            "title": "Project Update", "body": body, "locale": "en",
            "created_at": "2026-01-01T12:00:00.000Z", "deep_link": "timesafari://x", "actions": [String](),
            "changes": hasChanges ? changes : [],
        ]
        notification["polls"] = polls
        let object: [String: Any] = [
            "sequence": sequence, "stored_at": "2026-01-01T12:00:01.000Z", "notification": notification,
        ]
        return try JSONDecoder().decode(FeedEntry.self, from: JSONSerialization.data(withJSONObject: object))
    }

    private func entries(_ sequences: [Int64]) throws -> [FeedEntry] { try sequences.map { try entry($0) } }

    private func answer(
        _ format: FeedDocument.Format,
        _ entries: [FeedEntry],
        before: Int64? = nil,
        known: String? = nil
    ) throws -> Answer {
        var headers = HTTPFields()
        headers[.ifNoneMatch] = known
        let call = try #require(Call(method: "GET", target: format.path, headers: headers, host: "agent.test:9465"))
        let document = FeedDocument(format: format, entries: entries, before: before, origin: call.origin)
        return .feed(document, for: call)
    }

    private func text(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func json(_ answer: Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test func anEntryHasTheSameIdInBothFormats() throws {
        let id = "urn:uuid:00000000-0000-0000-0000-000000000007"
        #expect(text(try answer(.atom, entries([7]))).contains("<id>\(id)</id>"))
        let items = try #require(json(try answer(.json, entries([7])))["items"] as? [[String: Any]])
        #expect(items.map { $0["id"] as? String } == [id])
        #expect(items[0]["url"] as? String == "http://agent.test:9465/feed#n7")
        #expect(items[0]["date_published"] as? String == "2026-01-01T12:00:00.000Z")
        #expect((items[0]["content_html"] as? String)?.contains("<li>Farm</li>") == true)
    }

    @Test(arguments: FeedDocument.Format.allCases)
    func aReaderThatHasThePageGetsNoBody(format: FeedDocument.Format) throws {
        let first = try answer(format, entries([8, 7]))
        let tag = try #require(first.headers[.eTag])
        #expect(first.status == 200 && !first.body.isEmpty)
        #expect(first.headers[.cacheControl] == "private, no-cache")
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let again = try answer(format, entries([8, 7]), known: known)
            #expect(again.status == 304 && again.body.isEmpty && again.headers[.eTag] == tag, "\(known)")
        }
        // A newer notification, or an older one that is no longer kept, makes another page.
        for other in [[9, 8, 7], [8], []] as [[Int64]] {
            #expect(try answer(format, entries(other), known: tag).status == 200)
        }
    }

    @Test func aLongFeedHasPages() throws {
        let all = try entries((1...60).reversed())
        let next = "http://agent.test:9465/feed.atom?before=11"
        let first = text(try answer(.atom, Array(all.prefix(51))))
        #expect(first.contains("<link rel=\"next\" type=\"application/atom+xml\" href=\"\(next)\"/>"))
        #expect(first.components(separatedBy: "<entry ").count == 51 && !first.contains("rel=\"first\""))
        let second = text(try answer(.atom, Array(all.suffix(10)), before: 11))
        #expect(second.contains("<link rel=\"self\" type=\"application/atom+xml\" href=\"\(next)\"/>"))
        #expect(second.contains("rel=\"first\"") && !second.contains("rel=\"next\""))
        let page = try json(try answer(.json, Array(all.prefix(51))))
        #expect(page["next_url"] as? String == "http://agent.test:9465/feed.json?before=11")
        #expect((page["items"] as? [Any])?.count == 50)
        #expect(try json(try answer(.json, []))["next_url"] == nil)
    }

    /// Readers list titles alone.
    @Test(arguments: [(true, "Creek has been updated"), (false, "Project Update")])
    func theTitleIsTheTextUnlessThereIsNoChange(_ hasChanges: Bool, _ title: String) throws {
        let entry = try entry(1, body: "Creek has been updated", hasChanges: hasChanges)
        #expect(text(try answer(.atom, [entry])).contains("<title>\(title)</title>"))
        let items = try #require(json(try answer(.json, [entry]))["items"] as? [[String: Any]])
        #expect(items[0]["title"] as? String == title && items[0]["summary"] as? String == "Creek has been updated")
    }

    @Test func anEntryOfSeveralPollsHasTheirCategoriesAndALineForEach() throws {
        let entry = try entry(1, body: "1 update\n1 offer", polls: ["starred_projects", "my_offers"])
        let atom = text(try answer(.atom, [entry]))
        #expect(atom.contains("<category term=\"starred_projects\"/><category term=\"my_offers\"/>"))
        #expect(atom.contains("<title>1 update; 1 offer</title>"))
        #expect(atom.contains("&lt;p&gt;1 update&lt;/p&gt;&lt;p&gt;1 offer&lt;/p&gt;"))
        let items = try #require(json(try answer(.json, [entry]))["items"] as? [[String: Any]])
        #expect(items[0]["tags"] as? [String] == ["starred_projects", "my_offers"])
    }

    @Test func namesOfOthersAreTextInEveryFormat() throws {
        let evil = "</title><script>x</script>&\u{1}\u{FFFE}"
        let atom = text(try answer(.atom, [entry(1, body: evil, name: evil)]))
        #expect(atom.contains("<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;&amp;</title>"))
        #expect(atom.contains("&lt;li&gt;&amp;lt;/title&amp;gt;") && !atom.contains("<script>"))
        let items = try #require(json(try answer(.json, [entry(1, name: evil)]))["items"] as? [[String: Any]])
        #expect((items[0]["content_html"] as? String)?.contains("&lt;script&gt;") == true)
    }

    @Test func theAddressesAreThoseThatTheReaderUsed() throws {
        var call = try #require(Call(method: "GET", target: "/feed.json", host: "agent.test"))
        #expect(call.origin == "http://agent.test")
        call.isEncrypted = true
        #expect(call.origin == "https://agent.test")
        call.isEncrypted = false
        call.headers[.forwardedProtocol] = "https"
        #expect(call.origin == "https://agent.test")
    }

    @Test func thePageOfNotificationsLeadsToTheFeedsAndOtherPagesDoNot() throws {
        let times = PageTimes(now: "2026-01-01T12:00:00.000Z")
        let page = FeedPage(entries: [], times: times).frame.html(nonce: "n", canControl: true).text
        for format in FeedDocument.Format.allCases { #expect(page.contains("href=\"\(format.path.dropFirst())\">")) }
        #expect(
            !FeedPage(entries: nil, times: times).frame.html(nonce: "n", canControl: true).text.contains("feed.atom")
        )
    }
}

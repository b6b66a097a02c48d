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
        polls: [String]? = nil,
        at time: String = "2026-01-01T12:00:00.000Z"
    ) throws -> FeedEntry {
        let changes = [
            ["jwt_id": "j1", "plan": "p1", "name": name, "changed_at": "2026-01-01T11:59:00.000Z"],
            ["jwt_id": "j2", "plan": "p2", "name": "Farm", "changed_at": "2026-01-01T11:59:00.000Z"],
        ]
        var notification: [String: Any] = [
            "id": "ntf_" + String(repeating: "0", count: 30) + String(format: "%02x", sequence), "run_id": "run_1",
            "poll": "starred_projects", "group": "several", "collapse_key": "starred-projects", "count": 2,
            "title": "Project Update", "body": body, "locale": "en",
            "created_at": time, "deep_link": "timesafari://x", "actions": [String](),
            "changes": hasChanges ? changes : [],
        ]
        notification["polls"] = polls
        let object: [String: Any] = [
            "sequence": sequence, "stored_at": "2026-01-01T12:00:01.000Z", "notification": notification,
        ]
        return try JSONDecoder().decode(FeedEntry.self, from: JSONSerialization.data(withJSONObject: object))
    }

    private static let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"

    /// An entry of changes with these names, whose projects a browser opens.
    private func entry(
        named names: [String?],
        locale: String = "en",
        fields: [String: FieldChange]? = nil
    ) throws -> FeedEntry {
        let changes = names.enumerated().map { index, name in
            Change(
                id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_000_000 + Int64(index))),
                plan: Self.plan + String(index),
                name: name
            )
        }
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        var context = NotificationContext(messages: messages)
        if let fields { for change in changes { context.fields[change.id] = FieldChanges(fields) } }
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("starred_projects")),
            kind: .starredProjects,
            changes: changes,
            context: context,
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        return FeedEntry(sequence: 1, storedAt: "2026-01-01T00:00:01.000Z", notification: message)
    }

    private func entries(_ sequences: [Int64]) throws -> [FeedEntry] { try sequences.map { try entry($0) } }

    private func answer(
        _ format: FeedDocument.Format,
        _ entries: [FeedEntry],
        before: Int64? = nil,
        known: String? = nil,
        catalogues: MessageCatalogues = .builtIn
    ) throws -> Answer {
        let call = try call(format, known: known)
        var document = FeedDocument(format: format, entries: entries, before: before, hasPage: call.canBrowse)
        document.folder = call.folder
        document.catalogues = catalogues
        return .feed(document, for: call)
    }

    private func call(
        _ format: FeedDocument.Format,
        at folder: String = "",
        known: String? = nil,
        authorization: String? = nil
    ) throws -> Call {
        var headers = HTTPFields()
        headers[.ifNoneMatch] = known
        headers[.authorization] = authorization
        let target = folder + format.path
        return try #require(Call(method: "GET", target: target, headers: headers, host: "agent.test:9465"))
    }

    private func items(_ answer: Answer) throws -> [[String: Any]] {
        try #require(json(answer)["items"] as? [[String: Any]])
    }

    private func text(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func json(_ answer: Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test func anEntryHasTheSameIdInBothFormats() throws {
        let id = "urn:uuid:00000000-0000-0000-0000-000000000007"
        #expect(text(try answer(.atom, entries([7]))).contains("<id>\(id)</id>"))
        let items = try items(answer(.json, entries([7])))
        #expect(items.map { $0["id"] as? String } == [id])
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
        let next = "feed.atom?before=11"
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

    @Test func anEntryThatWasHeldTakesNoTimeFromTheFeed() throws {
        let held = try entry(3, at: "2026-01-01T02:00:00.000Z")
        let atom = text(try answer(.atom, [held] + entries([2, 1])))
        #expect(atom.firstMatch(of: /<updated>(.*)<\/updated>/)?.1 == "2026-01-01T12:00:00.000Z")
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

    /// A proxy serves the feed under a name and a path that the agent does not know.
    @Test(
        arguments: [
            "http://agent.test:9465", "https://agent.example.org", "https://example.org/starwatch",
            "https://me:secret@example.org/a/b", "https://example.org/starwatch/feed/0123456789abcdef",
        ]
    )
    func theLinksLeadToTheFeedUnderEveryNameAndPath(root: String) throws {
        let all = try entries((1...60).reversed())
        for (page, links) in [
            ("", ["feed", "feed.atom", "feed.atom?before=11"]),
            ("?before=60", ["feed", "feed.atom?before=60", "feed.atom", "feed.atom?before=10"]),
        ] {
            let before = page.isEmpty ? nil : Int64(60)
            let shown = Array(all.dropFirst(page.isEmpty ? 0 : 1).prefix(51))
            let place = try #require(URL(string: "\(root)/feed.atom\(page)"))
            let atom = text(try answer(.atom, shown, before: before))
            let head = try #require(atom.components(separatedBy: "<entry ").first)
            let found = head.matches(of: /<link .*href="(.*)"\/>/).map { String($0.1) }
            let resolved = found.compactMap { URL(string: $0, relativeTo: place)?.absoluteString }
            #expect(resolved == links.map { "\(root)/\($0)" })
        }
    }

    @Test func aJSONFeedNamesTheAddressesThatTheReaderUsed() throws {
        var call = try #require(Call(method: "GET", target: "/feed/a%2Fb/feed.json?before=60", host: "agent.test"))
        #expect(call.folder == "http://agent.test/feed/a%2Fb/")
        call.headers[.forwardedProtocol] = "https"
        call.headers[.forwardedPrefix] = "/star/watch/"
        #expect(call.folder == "https://agent.test/star/watch/feed/a%2Fb/")
        call.headers = [:]
        call.isEncrypted = true
        #expect(call.folder == "https://agent.test/feed/a%2Fb/")
        let all = try entries((1...60).reversed())
        let feed = try json(try answer(.json, Array(all.dropFirst().prefix(51)), before: 60))
        #expect(feed["feed_url"] as? String == "http://agent.test:9465/feed.json")
        #expect(feed["home_page_url"] as? String == "http://agent.test:9465/feed")
        #expect(feed["next_url"] as? String == "http://agent.test:9465/feed.json?before=10")
    }

    @Test func anEntryLinksToItsOnlyProjectAndToNoPageThatNeedsALogin() throws {
        let link = Self.plan + "0"
        let one = try entry(named: ["Creek"])
        #expect(try items(answer(.json, [one]))[0]["url"] as? String == link)
        let atom = text(try answer(.atom, [one]))
        #expect(atom.contains("<link rel=\"alternate\" type=\"text/html\" href=\"\(link)\"/>\n<summary>"))
        let content = try items(answer(.json, [one]))[0]["content_html"] as? String
        #expect(content == "<p>Creek has been updated</p><p><a href=\"\(link)\">View Project</a></p>")
        // Several have no address that leads to all of them, and "p1" is none.
        for entry in try [entry(named: ["Creek", "Farm"]), entry(7)] {
            #expect(try items(answer(.json, [entry]))[0]["url"] == nil)
            let parts = text(try answer(.atom, [entry])).components(separatedBy: "<entry ")
            #expect(parts.count == 2 && !parts[1].contains("<link"))
        }
    }

    @Test func theContentNamesAllProjectsEachWithItsLink() throws {
        let names = (0..<40).map { "Garden \($0)" }
        let entry = try entry(named: names)
        let content = try #require(items(answer(.json, [entry]))[0]["content_html"] as? String)
        for (index, name) in names.enumerated() {
            #expect(content.contains("<li><a href=\"\(Self.plan)\(index)\">\(name)</a></li>"))
        }
    }

    @Test func anItemOfAListHasItsOwnLink() throws {
        var change = Change(id: .floor(.ulid, at: Timestamp(seconds: 1_767_000_000)), plan: "id", name: "v2")
        change.details = ItemDetails(link: "https://a.test/?a=1&b=<i>", fields: [:])
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("releases")),
            kind: .json,
            changes: [change],
            context: NotificationContext(),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        let entry = FeedEntry(sequence: 1, storedAt: "2026-01-01T00:00:01.000Z", notification: message)
        let (link, item) = ("https://a.test/?a=1&b=%3Ci%3E", try items(answer(.json, [entry]))[0])
        #expect(item["url"] as? String == link)
        #expect((item["content_html"] as? String)?.contains("<a href=\"https://a.test/?a=1&amp;b=%3Ci%3E\">") == true)
        let atom = text(try answer(.atom, [entry]))
        #expect(
            atom.contains("<link rel=\"alternate\" type=\"text/html\" href=\"https://a.test/?a=1&amp;b=%3Ci%3E\"/>")
        )
    }

    @Test(arguments: [
        ("en", "Changed: description, end time", "A project without a name"),
        ("pl", "Zmieniono: opis, koniec", "Projekt bez nazwy"),
        ("ja", "変更：説明、終了日時", "名前のないプロジェクト"),
    ])
    func anEntryIsInOneLanguage(locale: String, change: String, unnamed: String) throws {
        let fields = ["end_time", "description"].map { ($0, FieldChange(before: "a", after: "b")) }
        let entry = try entry(named: ["Creek", nil], locale: locale, fields: Dictionary(uniqueKeysWithValues: fields))
        let content = try #require(items(answer(.json, [entry]))[0]["content_html"] as? String)
        #expect(content.contains("Creek</a> <small>\(change)</small></li>"))
        #expect(content.contains("\(unnamed)</a> <small>\(change)</small></li>"))
        #expect(text(try answer(.atom, [entry])).contains("<entry xml:lang=\"\(locale)\">"))
    }

    @Test func theFeedHasTheIdOfItsInstallation() throws {
        var document = FeedDocument(format: .atom, entries: [], before: nil, hasPage: true)
        document.bits = "000102030405060708090a0b0c0d0e0f"
        #expect(document.text.contains("<id>urn:uuid:00010203-0405-0607-0809-0a0b0c0d0e0f</id>"))
    }

    @Test func aTextThatIsWrittenOtherwiseIsAnotherPage() throws {
        let entries = [try entry(named: ["Creek", nil])]
        let tag = try answer(.atom, entries).headers[.eTag]
        #expect(try answer(.atom, entries, known: tag).status == 304)
        let words = #"{"notifications.unnamed_project": "Nameless"}"#
        let english = try MessageCatalogue(.english, json: words.utf8)
        let again = try answer(.atom, entries, known: tag, catalogues: MessageCatalogues.builtIn.adding([english]))
        #expect(again.status == 200 && text(again).contains("Nameless"))
    }

    @Test func thePageForPeopleIsNamedOnlyToReadersThatLogInAsABrowserCan() throws {
        for (folder, authorization, isNamed) in [
            ("", "Basic YTpi", true), ("", nil, true), ("", "Bearer x", false), ("/feed/0123456789abcdef", nil, false),
        ] as [(String, String?, Bool)] {
            let hasPage = try call(.json, at: folder, authorization: authorization).canBrowse
            #expect(hasPage == isNamed)
            let atom = FeedDocument(format: .atom, entries: [], before: nil, hasPage: hasPage).text
            #expect(atom.contains("href=\"feed\"") == isNamed)
            let json = FeedDocument(format: .json, entries: [], before: nil, hasPage: hasPage).text
            #expect(json.contains("home_page_url") == isNamed)
        }
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

import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The feed of the built agent in readers of others: feedparser and newsboat.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FeedReaderTests {
    private static let name = #"Garden <b>"North"</b> & {{title}} 🌻"#

    /// What feedparser reads, and the statuses of two requests, of which the second one has the ETag.
    private static let reader = #"""
        import calendar, feedparser, json, sys
        feed = feedparser.parse(sys.argv[1])
        again = feedparser.parse(sys.argv[1], etag=feed.get("etag"))
        print(json.dumps({
            "version": feed.version, "isBozo": bool(feed.bozo), "statuses": [feed.status, again.status],
            "entries": [{
                "id": e.id, "title": e.title, "link": e.link, "category": e.tags[0].term, "summary": e.summary,
                "time": calendar.timegm(e.published_parsed), "content": e.content[0].value,
            } for e in feed.entries],
        }))
        """#

    private struct Findings: Decodable {
        struct Entry: Decodable {
            let id: String
            let title: String
            let link: String
            let category: String
            let summary: String
            let time: Int
            let content: String
        }

        let version: String
        let isBozo: Bool
        let statuses: [Int]
        let entries: [Entry]
    }

    /// A proxy that serves the agent under a path, and the links that feedparser finds through it: its own address, and what
    /// each link answers.
    private static let proxy = #"""
        import feedparser, http.server, json, sys, threading, urllib.request
        agent, _, path = sys.argv[1].partition("/feed/")
        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if not self.path.startswith("/starwatch/"):
                    return self.send_error(404)
                with urllib.request.urlopen(agent + self.path.removeprefix("/starwatch")) as answer:
                    body = answer.read()
                    self.send_response(200)
                    self.send_header("Content-Type", answer.headers["Content-Type"])
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/starwatch/feed/{path}"
        # What comes before the newest entry: a page with all links but the next one.
        feed = feedparser.parse(address + "?before=2")
        links = [link.href.replace(address, "") for link in feed.feed.links]
        print(json.dumps({
            "links": links, "entries": [len(feedparser.parse(address + link).entries) for link in links],
        }))
        """#

    private struct Links: Decodable {
        let links: [String]
        let entries: [Int]
    }

    /// Gives `body` an agent whose feed has two notifications, and the address of `/feed.atom` with the token.
    private func withFeed(_ body: (AgentWorld, String) async throws -> Void) async throws {
        try await AgentWorld.withControl { world in
            try world.write { $0.feedTokenFile = world.workspace.path("feed.token") }
            let printed = try await starwatch("feed", "url", "--config", world.config)
            let address = try #require(printed.output.split(separator: "\n").first.map(String.init))
            let agent = try await world.start()
            world.mock.publish([MockChange(planID: world.mock.planIDs[0], name: Self.name)])
            #expect(await world.sequences(1) == [1])
            world.mock.publish([MockChange(planID: world.mock.planIDs[1], name: "B")])
            #expect(await world.sequences(2) == [2, 1])
            try await body(world, address)
            #expect(await agent.stop() == 0)
        }
    }

    @Test func feedparserFindsNoFaultAndReadsEveryEntryOnce() async throws {
        try await withFeed { world, address in
            // Another Python on the path may lack the library.
            let python = try Program.find("python3", in: "/usr/bin")
            let result = try await runToEnd(python, ["-c", Self.reader, address])
            #expect(result.status == 0, "\(result.errors)")
            let found = try JSONDecoder().decode(Findings.self, from: Data(result.output.utf8))
            #expect(found.version == "atom10" && !found.isBozo)
            #expect(found.statuses == [200, 304])
            // The reader need not log in anywhere to follow one.
            #expect(found.entries.map(\.link) == [world.mock.planIDs[1], world.mock.planIDs[0]])
            #expect(found.entries.map(\.title) == ["B has been updated", "\(Self.name) has been updated"])
            #expect(Set(found.entries.map(\.id)).count == 2)
            #expect(found.entries.allSatisfy { $0.id.hasPrefix("urn:uuid:") && $0.category == "starred_projects" })
            let now = Date().timeIntervalSince1970
            #expect(found.entries.allSatisfy { (now - 3600...now + 1).contains(Double($0.time)) })
            #expect(found.entries[0].time >= found.entries[1].time)
            #expect(found.entries[1].summary.contains(Self.name))
            // A reader shows the content as HTML.
            let escaped = "Garden &lt;b&gt;"
            #expect(found.entries[1].content.contains(escaped), "\(found.entries[1].content)")
        }
    }

    @Test func behindAProxyWithAPathTheLinksLeadToTheFeed() async throws {
        try await withFeed { _, address in
            let python = try Program.find("python3", in: "/usr/bin")
            let result = try await runToEnd(python, ["-c", Self.proxy, address])
            #expect(result.status == 0, "\(result.errors)")
            let found = try JSONDecoder().decode(Links.self, from: Data(result.output.utf8))
            #expect(found.links == ["?before=2", ""] && found.entries == [1, 2])
        }
    }

    @Test func newsboatListsTheEntriesAndThenAsksOnlyForChanges() async throws {
        try await withFeed { world, address in
            let home = try Workspace()
            try home.write(address + "\n", to: "urls")
            try home.write("", to: "config")
            let newsboat = try Program.find("newsboat", in: "/usr/bin")
            func run(_ log: String, _ command: String) async throws -> String {
                let files = ["-C", home.path("config"), "-u", home.path("urls"), "-c", home.path("cache.db")]
                let result = try await runToEnd(
                    newsboat,
                    files + ["-l", "6", "-d", home.path(log), "-x", command],
                    environment: ["HOME": home.url.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""]
                )
                #expect(result.status == 0, "\(result.output) \(result.errors)")
                return result.output
            }
            /// What the server answered to a reload: empty for 304.
            func answer(_ log: String) throws -> Substring {
                let text = try String(contentsOfFile: home.path(log), encoding: .utf8)
                return try #require(text.firstMatch(of: /retrieved data for \S+: (.*)/)).1
            }
            _ = try await run("1", "reload")
            #expect(try answer("1").hasPrefix("<?xml"))
            #expect(try await run("print", "print-unread").contains("2 unread articles"))
            let titles = try Database.strings(home.path("cache.db"), "SELECT title FROM rss_item ORDER BY title")
            #expect(titles == ["B has been updated", "\(Self.name) has been updated"])
            let contents = try Database.strings(home.path("cache.db"), "SELECT content FROM rss_item ORDER BY title")
            #expect(contents[0].contains("B") && contents[1].contains("Garden &lt;b&gt;"))
            // It keeps the ETag from its second reload on, when the feed is in its cache.
            _ = try await run("2", "reload")
            _ = try await run("3", "reload")
            #expect(try answer("3").isEmpty)
            #expect(try await run("print", "print-unread").contains("2 unread articles"))

            world.mock.publish([MockChange(planID: world.mock.planIDs[2], name: "C")])
            #expect(await world.sequences(3) == [3, 2, 1])
            _ = try await run("4", "reload")
            #expect(try await run("print", "print-unread").contains("3 unread articles"))
        }
    }
}

import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// Polls of the kind `json` by the built agent: each item is announced once, whatever ends the process.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListPollTests {
    /// A list of the mock, with items from before the agent's start.
    private static func list(_ rest: String, items: ClosedRange<Int> = 1...3) throws -> MockList {
        let items = items.reversed().map { item($0) }.joined(separator: ",")
        let json = "{\"path\": \"/v1/items\", \"items_at\": \"/data\", \"items\": [\(items)], \(rest)}"
        return try MockList(json: Data(json.utf8))
    }

    private static func item(_ number: Int, version: Int = 1) -> String {
        let time = "2026-01-\(version < 10 ? "0" : "")\(version)T00:00:00Z"
        return """
            {"id": \(number), "at": "\(time)", "title": "item \(number).\(version)", "url": "/items/\(number)", "by": {"login": "ann"}}
            """
    }

    /// A poll of the list, as the lines of its settings.
    private static func poll(_ server: String, _ rest: String) -> String {
        """
        items: {kind: json, url: "\(server)/v1/items", items: /data, id: /id, version: /at, name: /title, link: /url, \
        fields: {author: /by/login}, every: 1s, \(rest)}
        """
    }

    /// The agent of a list alone: it has no Endorser server and no identity.
    private static func yaml(_ server: String, in workspace: Workspace, _ rest: String) -> String {
        """
        storage: {path: \(workspace.path("starwatch.db"))}
        polls:
          \(poll(server, rest))
        delivery:
          group_interval: 0s
          sinks:
        \(TestConfiguration.file(workspace))
        http: {listen: "127.0.0.1:0"}
        control: {socket: \(workspace.path("s.sock"))}
        log: {level: info}

        """
    }

    private func withAgent(
        _ list: String,
        _ poll: String,
        _ body: (MockServer, Workspace) async throws -> Void
    ) async throws {
        var options = MockServerOptions()
        options.lists = [try Self.list(list)]
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        try workspace.write(Self.yaml(mock.url, in: workspace, poll), to: "starwatch.yaml")
        try await body(mock, workspace)
        try await mock.stop()
    }

    private func names(in workspace: Workspace) -> [String] {
        let text = (try? String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
        return text.matches(of: /"name":"(item [^"]*)"/).map { String($0.1) }
    }

    private func start(in workspace: Workspace) async throws -> RunningAgent {
        try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
    }

    private static let newestFirst = #""order": "newest_first", "page_size": 3, "paging": {"link_header": true}"#

    @Test func everyItemIsAnnouncedOnceThoughTheAgentIsKilledAtRandomMoments() async throws {
        try await withAgent(Self.newestFirst, "order: newest_first, next: {link_header: true}") { mock, workspace in
            var generator = SystemRandomNumberGenerator()
            var agent = try await start(in: workspace)
            await agent.pages.waitForPoll(of: "items")
            for life in 0..<20 {
                for number in 0..<5 { mock.edit("/v1/items") { $0.put(json: Self.item(100 + life * 5 + number)) } }
                await pause(milliseconds: Int.random(in: 0...900, using: &generator))
                await agent.killNow()
                agent = try await start(in: workspace)
            }
            let expected = (100..<200).map { "item \($0).1" }
            let arrived = await eventually { names(in: workspace).count >= 100 ? true : nil }
            #expect(arrived == true, "\(names(in: workspace).count) of 100 arrived")
            mock.edit("/v1/items") { $0.put(json: Self.item(100, version: 2)) }
            let edited = await eventually { names(in: workspace).contains("item 100.2") ? true : nil }
            #expect(edited == true)
            #expect(names(in: workspace).sorted() == (expected + ["item 100.2"]).sorted())
            let asked = mock.requests(to: .list).count
            #expect(
                asked > 20 && mock.requests().allSatisfy { $0.endpoint == .list },
                "the agent asks for nothing else"
            )
            #expect(await agent.stop() == 0)
        }
    }

    @Test(arguments: [
        (
            #""order": "oldest_first", "page_size": 2, "paging": {"cursor": "/next", "parameter": "c"}"#,
            "order: oldest_first, next: {pointer: /next, parameter: c}"
        ),
        (
            #""order": "none", "page_size": 2, "paging": {"page": "page", "first": 1}"#,
            "order: none, next: {page: page}"
        ),
        (
            #""order": "newest_first", "page_size": 2, "paging": {"next_url": "/links/next"}"#,
            "order: newest_first, next: {pointer: /links/next}"
        ),
        (
            #""order": "oldest_first", "since": {"parameter": "since", "from": "/at"}"#,
            "order: oldest_first, since: {parameter: since, from: /at}"
        ),
        (#""requires": {"header": "X-Key", "value": "k 1"}"#, "headers_file: key.headers"),
    ])
    func everyFormOfAListIsFollowed(list: String, poll: String) async throws {
        try await withAgent(list, poll) { mock, workspace in
            try workspace.write("X-Key: k 1\n", to: "key.headers")
            let agent = try await start(in: workspace)
            await agent.pages.waitForPoll(of: "items")
            mock.edit("/v1/items") { $0.put(json: Self.item(2, version: 2)) }
            mock.edit("/v1/items") { $0.put(json: Self.item(9, version: 3)) }
            let found = await eventually { names(in: workspace).count >= 2 ? names(in: workspace) : nil }
            #expect(found?.sorted() == ["item 2.2", "item 9.3"])
            let text = try String(contentsOfFile: workspace.path("notifications.jsonl"), encoding: .utf8)
            #expect(
                text.contains("\"link\":\"\(mock.url)/items/9\"") && text.contains("\"values\":{\"author\":\"ann\"}")
            )
            #expect(await agent.stop() == 0)
        }
    }

    @Test func anUnchangedListIsNotSentAgainAndABrokenOneSaysWhy() async throws {
        try await withAgent("\"etag\": true", "expect: [{pointer: /data, exists: true}]") { mock, workspace in
            let agent = try await start(in: workspace)
            await agent.pages.waitForPoll(of: "items")
            let unchanged = await eventually { () -> Bool? in
                let page = try? await agent.pages.get("/metrics")
                return page?.contains(#"starwatch_api_requests_total{endpoint="list",result="not_modified"}"#)
            }
            #expect(unchanged == true)
            mock.setStickyFault(.status(200, body: #"{"data": {"id": 1}}"#), at: .list)
            let told = await eventually { agent.logText.contains("is no list; correct items.") ? true : nil }
            #expect(told == true)
            mock.clearFaults()
            mock.edit("/v1/items") { $0.put(json: Self.item(9)) }
            let found = await eventually { names(in: workspace) == ["item 9.1"] ? true : nil }
            #expect(found == true)
            #expect(await agent.stop() == 0)
        }
    }

    @Test func aListAnnouncesTheOffersThatTheKindOfOffersAnnounces() async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.groupInterval = "0s"
            let list = "\(configuration.server)/api/v2/report/offersToPlans"
            let plans = configuration.plans.map { "\"\($0)\"" }.joined(separator: ",")
            configuration.polls = [
                "offers_to_starred: {kind: offers_to_starred, every: 1s, bootstrap: beginning}",
                "listed: {kind: json, url: \"\(list)\", query: {planIds: '[\(plans)]'}, items: /data, id: /jwtId, "
                    + "order: newest_first, every: 1s, bootstrap: beginning}",
            ]
        }
        let agent = try await world.start()
        var published = Set(world.mock.publishOffers(count: 10))
        await agent.pages.waitForPoll(of: "listed")
        published.formUnion(world.mock.publishOffers(count: 10))
        @Sendable func announced(_ poll: String, _ key: String) -> [String] {
            let text = (try? String(contentsOfFile: world.workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
                .filter { $0["poll"].text == poll }
                .flatMap { $0["changes"].list }.compactMap { $0[key].text }
        }
        let done = await eventually {
            announced("offers_to_starred", "jwt_id").count >= 20 && announced("listed", "plan").count >= 20 ? true : nil
        }
        #expect(done == true)
        #expect(announced("offers_to_starred", "jwt_id").sorted() == published.sorted())
        #expect(announced("listed", "plan").sorted() == published.sorted())
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }
}

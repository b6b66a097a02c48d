import Foundation
import MockEndorser
import Testing

/// The status page of the built agent, in a real browser.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BrowserTests {
    /// Names as long as they may be.
    static let longName = "s" + String(repeating: "_2345678", count: 7) + "_23456"
    static let did = "did:ethr:0x00000000000000000000000000000000000000aa"

    private struct Scene {
        var world: AgentWorld
        var agent: RunningAgent
        var browser: Browser
    }

    /// An agent that has delivered two changes and is stale a second later, and a browser.
    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        let world = try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = 3
        } configure: { configuration, workspace in
            configuration.did = Self.did
            configuration.every = "1h"
            configuration.staleAfter = "1s"
            configuration.sinks =
                TestConfiguration.webhook(configuration.server) + "\n    - name: \(Self.longName)\n      kind: log"
            configuration.dashboards = "http://127.0.0.1:9/d/starwatch"
            try configuration.listen(in: workspace)
        }
        let mock = world.mock
        let browser = try Browser(in: world.workspace)
        mock.publish(mock.plans.prefix(2).map { MockChange(planID: $0.id) })
        let agent = try await world.start()
        let arrived = await eventually { mock.receivedNotifications.flatMap(\.jwtIDs).count == 2 ? true : nil }
        #expect(arrived == true)
        let pages = agent.pages
        let stale = try await eventually {
            try await pages.get("/api/v1/status").contains("\"stale\":true") ? true : nil
        }
        #expect(stale == true)
        try await body(Scene(world: world, agent: agent, browser: browser))
        await browser.close()
        await agent.stop()
        try await mock.stop()
    }

    @Test func thePageIsReadableForEverybodyAndNamesNobody() async throws {
        try await withScene { scene in
            let tab = try await BrowserTab(in: scene.browser)
            try await tab.send("Emulation.setTimezoneOverride", ["timezoneId": "Pacific/Auckland"])
            for (path, width) in [
                ("/", 360), ("/", 1280), ("/help", 360), ("/help/runbooks", 360),
                ("/help/runbooks/StarwatchPollStale", 360), ("/help/runbooks/StarwatchAgentDown", 360),
            ] {
                try await tab.resize(width: width, height: 900)
                var backgrounds: Set<String> = []
                for scheme in ["light", "dark"] {
                    try await tab.prefer(scheme)
                    try await tab.open("http://\(scene.agent.address)\(path)")
                    let here = Comment(rawValue: "\(path), \(width) wide, \(scheme)")
                    #expect(try await tab.evaluate(PageMeasures.overflow).number == 0, here)
                    #expect(try await tab.evaluate(PageMeasures.cutCode).number == 0, here)
                    let weak = try await tab.evaluate(PageMeasures.weakContrasts).list.compactMap(\.text)
                    #expect(weak == [], here)
                    let page = try await tab.evaluate("getComputedStyle(document.body).backgroundColor")
                    backgrounds.insert(page.text ?? "")
                    try await expectStructure(of: tab, path: path, here)
                    try await expectNobody(in: tab, of: scene, here)
                }
                #expect(backgrounds.count == 2)
            }
            #expect(tab.complaints == [])
            let foreign = tab.requests.filter {
                !$0.hasPrefix("http://\(scene.agent.address)/") && !$0.hasPrefix("data:image/svg+xml,")
            }
            #expect(foreign == [])
            #expect(tab.requests.count >= 6)
        }
    }

    @Test func timesAreTheViewersAndWithoutScriptsUTC() async throws {
        try await withScene { scene in
            let tab = try await BrowserTab(in: scene.browser)
            try await tab.send("Emulation.setTimezoneOverride", ["timezoneId": "Pacific/Auckland"])
            try await tab.open("http://\(scene.agent.address)/")
            let clocks = "[...document.querySelectorAll('time small')].map((e) => e.textContent)"
            let times = "[...document.querySelectorAll('time')].map((e) => e.dateTime)"
            let local = try await tab.evaluate(clocks).list.compactMap(\.text)
            let expected = try await tab.evaluate(times).list.compactMap(\.text).map(Self.auckland)
            #expect(local.count >= 5)
            for (shown, expected) in zip(local, expected) { #expect(shown.hasSuffix(expected)) }
            #expect(
                try await tab.evaluate("document.querySelector('header p').textContent").text?.hasSuffix(
                    "Pacific/Auckland"
                ) == true
            )

            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try await tab.open("http://\(scene.agent.address)/")
            let plain = try await tab.evaluate(clocks).list.compactMap(\.text)
            #expect(plain.count == local.count)
            #expect(plain.allSatisfy { $0.hasSuffix(" UTC") })
            try await expectStructure(of: tab, path: "/", "without scripts")
            #expect(tab.complaints == [])
        }
    }

    @Test func refreshNowPollsWhereControlIsOpenAndOnlyThere() async throws {
        try await withScene { scene in
            let tab = try await BrowserTab(in: scene.browser)
            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try await tab.open("http://\(scene.agent.address)/")
            #expect(try await tab.accessibilityTree().allSatisfy { $0.role != "button" })
            let headers: JSON = ["Authorization": .string(AgentWorld.token)]
            try await tab.send("Network.setExtraHTTPHeaders", ["headers": headers])
            try await tab.open("http://\(scene.world.control)/")
            let buttons = try await tab.accessibilityTree().filter { $0.role == "button" }.map(\.name)
            #expect(buttons == ["Refresh Now"])
            let before = scene.world.mock.requests(to: .plansChanged).count
            _ = try await tab.evaluate("document.querySelector('form button').click()")
            try await tab.loaded()
            #expect(try await tab.evaluate("location.pathname").text == "/")
            #expect(scene.world.mock.requests(to: .plansChanged).count > before)
            #expect(tab.complaints == [])

            // Another origin's page gets nowhere, even with the token.
            let polled = scene.world.mock.requests(to: .plansChanged).count
            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": false])
            try await tab.open("data:text/html,<body></body>")
            let run = "http://\(scene.world.control)/api/v1/polls/starred_projects/run"
            let form = "<form method=post action=\(run)><button>"
            _ = try await tab.evaluate("document.body.innerHTML = '\(form)'; document.querySelector('button').click()")
            try await tab.loaded()
            #expect(try await tab.evaluate("document.body.textContent").text?.contains("other origins") == true)
            #expect(scene.world.mock.requests(to: .plansChanged).count == polled)
        }
    }

    private func expectStructure(of tab: BrowserTab, path: String, _ here: Comment) async throws {
        let tree = try await tab.accessibilityTree()
        func names(_ role: String) -> [String] { tree.filter { $0.role == role }.map(\.name) }
        let first = tree.filter { $0.role == "heading" && $0.level == 1 }.map(\.name)
        #expect(tree.filter { ["banner", "main", "contentinfo"].contains($0.role) }.count == 3, here)
        #expect(names("navigation") == ["Pages"], here)
        let links = ["Metrics", "Status as JSON", "Dashboards", "Health", "Readiness", "Help"]
        #expect(Set(links).isSubset(of: names("link")), here)
        guard path == "/" else {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            #expect(first.map { $0.lowercased() } == [name.lowercased()], here)
            let tables = ["help": ["Reasons", "Skips", "Digests", "Fields", "Addresses"], "runbooks": ["Runbooks"]]
            #expect(Set(names("table")) == Set(tables[name] ?? []), here)
            return
        }
        #expect(first == ["Poll starred_projects is stale"], here)
        #expect(names("RootWebArea") == ["Poll starred_projects is stale – Starwatch"], here)
        #expect(names("status") == ["Data may be outdated"], here)
        #expect(Set(names("table")) == ["Polls", "Sinks"], here)
        #expect(Set(names("rowheader")) == ["starred_projects", "hook", Self.longName], here)
        let columns = [
            "Poll", "State", "Last success", "Last attempt", "Last new", "Behind", "Next run", "Watermark lag", "Sink",
            "State",
        ]
        #expect(names("columnheader").sorted() == columns.sorted(), here)
        let regions = [
            "Poll starred_projects is stale", "Polls", "Outbox", "Sinks", "Server", "Clock", "Agent", "Last events",
        ]
        #expect(Set(names("region")) == Set(regions), here)
        #expect(tree.filter { $0.role == "cell" || $0.role == "gridcell" }.count == 9, here)
    }

    private func expectNobody(in tab: BrowserTab, of scene: Scene, _ here: Comment) async throws {
        let html = try await tab.evaluate(PageMeasures.html).text ?? ""
        #expect(html.utf8.count > 4000, here)
        let personal =
            [Self.did, "0000aa"] + scene.world.mock.planIDs + scene.world.mock.publishedIDs
            + scene.world.mock.plans.map(\.name)
        for text in personal { #expect(!html.contains(text), here) }
    }

    /// A time's clock in Auckland.
    private static func auckland(_ text: String) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "Pacific/Auckland")
        formatter.dateFormat = "HH:mm:ss"
        let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return date.map(formatter.string) ?? "no time: \(text)"
    }
}

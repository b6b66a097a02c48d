import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// The feed of the built agent: on the command line, over its death, and in a browser.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FeedTests {
    private func withWorld(_ body: (AgentWorld) async throws -> Void) async throws {
        try await AgentWorld.withControl(sinks: { TestConfiguration.file($0) }, body)
    }

    /// Lines that a program has printed so far.
    private func lines(_ path: String, atLeast count: Int) async -> [String] {
        let found = await eventually { () -> [String]? in
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").map(String.init)
            return lines.count >= count ? lines : nil
        }
        return found ?? []
    }

    @Test func whoFollowsMissesNothingOverAReloadAndADeath() async throws {
        try await withWorld { world in
            let (mock, workspace) = (world.mock, world.workspace)
            mock.publish(count: 1)
            var agent = try await RunningAgent(config: world.config, in: workspace)
            #expect(await world.sequences(1) == [1])

            let output = workspace.url.appending(path: "followed")
            try Data().write(to: output)
            let follower = Process()
            follower.executableURL = Binary.starwatch
            follower.arguments = ["notifications", "follow", "--after", "0", "--json", "--config", world.config]
            follower.standardOutput = try FileHandle(forWritingTo: output)
            follower.standardError = FileHandle.nullDevice
            follower.standardInput = FileHandle.nullDevice
            try follower.start()
            #expect(await lines(output.path, atLeast: 1).count == 1)

            agent.hangUp()
            mock.publish(count: 1)
            #expect(await lines(output.path, atLeast: 2).count == 2)

            await agent.killNow()
            mock.publish(count: 1)
            agent = try await RunningAgent(config: world.config, in: workspace, log: "second.log")
            let followed = await lines(output.path, atLeast: 3)
            #expect(await world.sequences(3) == [3, 2, 1])
            // As the file sink got them, byte for byte, each once.
            #expect(await lines(workspace.path("notifications.jsonl"), atLeast: 3) == followed)

            #expect(await agent.stop() == 0)
            follower.terminate()
            await follower.end()
        }
    }

    @Test func withoutAFeedOrAnAgentTheCommandSaysSo() async throws {
        try await withWorld { world in
            let none = try await starwatch("notifications", "follow", "--config", world.config)
            #expect(none.status == 3)
            let yaml = try String(contentsOfFile: world.config, encoding: .utf8)
            try world.workspace.write(
                yaml.replacing("    - name: feed\n      kind: feed\n", with: ""),
                to: "starwatch.yaml"
            )
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            let refused = try await starwatch("notifications", "follow", "--config", world.config)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("add a sink of kind feed"))
            #expect(await agent.stop() == 0)
        }
    }

    @Test func aReaderWithoutAPasswordHasAnAddressOfItsOwnUntilTheNextOne() async throws {
        try await withWorld { world in
            let unset = try await starwatch("feed", "url", "--config", world.config)
            #expect(unset.status == 2)
            #expect(unset.errors.contains("Set control.listen and control.feed_token_file first"))
            let port = world.control.split(separator: ":")[1]
            let everywhere = "0.0.0.0:\(port)"
            try world.write { ($0.feedTokenFile, $0.controlAddress) = (world.workspace.path("feed.token"), everywhere) }
            #expect(try await starwatch("feed", "url", "--config", world.config).status == 2)
            #expect(try await addresses("url", "--host", "a.test:1", in: world)[0].hasPrefix("http://a.test:1/feed/"))
            let proxied = try await starwatch("feed", "url", "--host", "https://a.test", "--config", world.config)
            #expect(proxied.output.hasPrefix("https://a.test/feed/") && proxied.errors.contains("http.allowed_hosts"))
            try world.write { $0.feedTokenFile = world.workspace.path("feed.token") }
            let first = try await addresses("url", in: world)
            #expect(first.allSatisfy { $0.hasPrefix("http://\(world.control)/feed/") })
            #expect(try await addresses("url", in: world) == first)
            let mode = try FileManager.default.attributesOfItem(atPath: world.workspace.path("feed.token"))
            #expect(mode[.posixPermissions] as? Int == 0o600)

            world.mock.publish(count: 1)
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            #expect(await world.sequences(1) == [1])
            for address in first {
                let answer = try await HTTP.get(address)
                #expect(answer.status == 200 && answer.body.contains("urn:uuid:"), "\(answer.body)")
            }
            let second = try await addresses("rotate", in: world)
            #expect(second != first)
            #expect(try await HTTP.get(first[0]).status == 403)
            #expect(try await HTTP.get(second[0]).status == 200)
            // Who rotated it is in the journal, and the use of the former address is counted apart.
            let journal = try await starwatch("journal", "--config", world.config)
            #expect(journal.output.contains("feed.token") && journal.output.contains("operation=rotate"))
            let page = try await HTTP.get("http://\(agent.address)/metrics").body
            #expect(page.contains(#"starwatch_control_refused_total{reason="former_token"} 1"#))
            #expect(await agent.stop() == 0)
            let third = try await addresses("rotate", in: world)
            #expect(third != second)
            // Without an agent the command writes it.
            let stopped = try await starwatch("journal", "--config", world.config)
            #expect(stopped.output.components(separatedBy: "operation=rotate").count == 3, "\(stopped.output)")
            #expect(stopped.output.contains("command:"))
            // Nobody reads it in the log.
            let log = try String(contentsOfFile: world.workspace.path("agent.log"), encoding: .utf8)
            let token = second[0].split(separator: "/").dropLast().last.map(String.init) ?? ""
            #expect(token.count == 32 && !log.contains(token))
        }
    }

    /// As with the package: the configuration is in a folder of root, and the database in one of the agent's user.
    @Test(.enabled(if: geteuid() == 0))
    func rootGivesTheTokenInItsOwnFolderToTheAgentsUser() async throws {
        let (workspace, nobody) = (try Workspace(), 65_534)
        let state = workspace.path("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.url.path)
        try FileManager.default.setAttributes([.ownerAccountID: nobody], ofItemAtPath: state)
        try workspace.write("a-token-of-some-length\n", to: "token")
        let yaml = """
            storage: {path: state/starwatch.db}
            control: {socket: state/s, listen: "127.0.0.1:9465", token_file: token, feed_token_file: feed.token}
            delivery: {sinks: [{name: feed, kind: feed}]}
            """
        try workspace.write(yaml, to: "starwatch.yaml")
        for word in ["url", "rotate"] {
            let result = try await starwatch("feed", word, "--config", workspace.path("starwatch.yaml"))
            #expect(result.status == 0 && result.output.contains("/feed/"), "\(result.errors)")
            let file = try FileManager.default.attributesOfItem(atPath: workspace.path("feed.token"))
            #expect((file[.ownerAccountID] as? NSNumber)?.intValue == nobody)
            #expect(file[.posixPermissions] as? Int == 0o600)
        }
    }

    private func addresses(_ words: String..., in world: AgentWorld) async throws -> [String] {
        let result = try await starwatch(["feed"] + words + ["--config", world.config])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 2)
        return lines
    }

    @Test func thePageShowsANewOneByItselfAndIsReadableForEverybody() async throws {
        try await withWorld { world in
            world.mock.publish(count: 3)
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            #expect(await world.sequences(1) == [1])
            let browser = try Browser(in: world.workspace)
            let tab = try await BrowserTab(in: browser)
            let headers: JSON = ["Authorization": .string(AgentWorld.token)]
            try await tab.send("Network.setExtraHTTPHeaders", ["headers": headers])
            var backgrounds: Set<String> = []
            for (width, scheme) in [(360, "light"), (390, "dark"), (1280, "light"), (1280, "dark")] {
                try await tab.resize(width: width, height: 900)
                try await tab.prefer(scheme)
                try await tab.open("http://\(world.control)/feed")
                #expect(try await tab.evaluate(PageMeasures.overflow).number == 0)
                let weak = try await tab.evaluate(PageMeasures.weakContrasts).list.compactMap(\.text)
                #expect(weak == [])
                let ages = try await tab.evaluate(PageMeasures.agePlaces).list.compactMap(\.text)
                #expect(ages == Array(repeating: width < 500 ? "below" : "right", count: 2))
                let page = try await tab.evaluate("getComputedStyle(document.body).backgroundColor")
                backgrounds.insert(page.text ?? "")
                try await picture(of: tab, named: "feed-\(width)-\(scheme)")
            }
            #expect(backgrounds.count == 2)

            // As somebody opens it who has a name and a password.
            try await tab.open("http://me:secret@\(world.control)/feed")
            let isLive = await eventually {
                let text = try? await tab.evaluate("document.getElementById('live').textContent").text
                return text?.hasPrefix("Live") == true ? true : nil
            }
            #expect(isLive == true)
            world.mock.publish(world.mock.plans.prefix(1).map { MockChange(planID: $0.id) })
            let count = await eventually {
                let count = try? await tab.evaluate("document.querySelectorAll('article').length").number
                return count == 2 ? true : nil
            }
            #expect(count == true)
            let tree = try await tab.accessibilityTree()
            #expect(
                tree.filter { $0.role == "heading" }.map(\.name) == [
                    "Notifications", "Project Update", "Project Updates",
                ]
            )
            #expect(tree.filter { $0.role == "article" }.count == 2)
            #expect(tree.contains { $0.role == "link" && $0.name == "Notifications" })
            let zone = try await tab.evaluate("document.querySelector('article time small').textContent").text
            #expect(zone?.hasSuffix(" UTC") == false)

            try await tab.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try await tab.open("http://\(world.control)/feed")
            #expect(try await tab.evaluate("document.querySelectorAll('article').length").number == 2)
            #expect(tab.complaints == [])
            let foreign = tab.requests.map { $0.replacing("me:secret@", with: "") }.filter {
                !$0.hasPrefix("http://\(world.control)/") && !$0.hasPrefix("data:image/svg+xml,")
            }
            #expect(foreign == [])
            await browser.close()
            #expect(await agent.stop() == 0)
        }
    }

    /// Into the folder that `STARWATCH_PICTURES` names, for a person to look at.
    private func picture(of tab: BrowserTab, named name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["STARWATCH_PICTURES"] else { return }
        let picture = try await tab.send("Page.captureScreenshot", ["format": "png"])["data"].text ?? ""
        try Data(base64Encoded: picture)?.write(to: URL(filePath: folder).appending(path: name + ".png"))
    }
}

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
            for (width, scheme) in [(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")] {
                try await tab.resize(width: width, height: 900)
                try await tab.prefer(scheme)
                try await tab.open("http://\(world.control)/feed")
                #expect(try await tab.evaluate(PageMeasures.overflow).number == 0)
                let weak = try await tab.evaluate(PageMeasures.weakContrasts).list.compactMap(\.text)
                #expect(weak == [])
                let page = try await tab.evaluate("getComputedStyle(document.body).backgroundColor")
                backgrounds.insert(page.text ?? "")
                try await picture(of: tab, named: "feed-\(width)-\(scheme)")
            }
            #expect(backgrounds.count == 2)

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
            let foreign = tab.requests.filter {
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

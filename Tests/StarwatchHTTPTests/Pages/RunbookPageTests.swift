import Foundation
import NIOHTTP1
import StarwatchCore
import Testing

@testable import StarwatchHTTP

/// The runbooks at `/help/runbooks`.
@Suite(.timeLimit(.minutes(5)))
struct RunbookPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../alerts/runbooks").standardized

    private static var files: [String: String] {
        get throws {
            let urls = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let texts = try urls.filter { $0.pathExtension == "md" }.map {
                ($0.deletingPathExtension().lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            }
            return Dictionary(uniqueKeysWithValues: texts)
        }
    }

    @Test func theBinaryHasEveryRunbookOfTheFolderWordForWord() throws {
        let files = try Self.files
        #expect(files.count > 40)
        let names = Runbook.all.map(\.name)
        #expect(names == files.keys.sorted(), "Sources/CEmbedded/files.c has a line for each runbook.")
        for runbook in Runbook.all { #expect(runbook.text == files[runbook.name], "\(runbook.name)") }
    }

    @Test func everyRunbookIsServedWithItsSectionsAndCommands() async throws {
        let files = try Self.files
        try await withAdmin(FakeAgent()) { probe in
            // Its commands ask this server, not one at the default address.
            let own = probe.address
            for (name, written) in files {
                let text = written.replacing("http://127.0.0.1:9464", with: "http://\(own)")
                let reply = try await probe.get("/help/runbooks/\(name)")
                #expect(reply.status == 200)
                #expect(reply.headers["Content-Type"] == ["text/html; charset=utf-8"])
                #expect(reply.text.contains("<h1>\(name)</h1>"))
                for section in ["Meaning", "Impact", "Diagnosis", "Mitigation"] {
                    #expect(reply.text.contains("<h2>\(section)</h2>"), "\(name)")
                }
                for block in text.matches(of: /```\n([\s\S]*?)\n```/) {
                    let code: HTML = "<code>\(String(block.1))</code></pre>"
                    #expect(reply.text.contains(code.text), "\(name)")
                }
                #expect(!reply.text.contains("`"), "\(name)")
                #expect(!text.contains("pidof"), "\(name) signals every program of that name")
            }
        }
    }

    @Test func theIndexLinksEveryRunbookAndSaysWhatItsAlertMeans() async throws {
        let index = try await withAdmin(FakeAgent()) { try await $0.get("/help/runbooks") }.text
        for runbook in Runbook.all {
            #expect(index.contains("<a href=\"runbooks/\(runbook.name)\">\(runbook.name)</a>"))
        }
        #expect(index.contains("<p>Prometheus knows the agent&#39;s target, but scrapes fail.</p>"))
        #expect(!index.contains("<p></p>"))
    }

    @Test func aLinkToTheFileReachesThePage() async throws {
        try await withAdmin(FakeAgent()) { probe in
            let page = try await probe.get("/help/runbooks/StarwatchPollStale.md")
            #expect(page.status == 200)
            #expect(page.text.contains("<h1>StarwatchPollStale</h1>"))
        }
    }

    @Test(arguments: ["StarwatchNothing", ".md", "StarwatchPollStale.md.md", "..%2FStarwatchPollStale"])
    func aRunbookThatIsNotThereIsNotFound(name: String) async throws {
        let reply = try await withAdmin(FakeAgent()) { try await $0.get("/help/runbooks/\(name)") }
        #expect(reply.status == 404)
        #expect(reply.text.contains("/help/runbooks lists all"))
    }

    @Test(arguments: ["/help", "/help/runbooks", "/help/runbooks/StarwatchPollStaleCritical"])
    func everyLinkOfThePageLeadsSomewhere(path: String) async throws {
        try await withAdmin(FakeAgent()) { probe in
            let page = try await probe.get(path).text
            let links = Set(page.matches(of: /<a [^>]*href="([^":]+)"/).map { String($0.1) })
            #expect(links.count >= 6)
            for link in links {
                let target = try #require(URL(string: link, relativeTo: URL(string: "http://a\(path)")))
                #expect(try await probe.get(target.absoluteURL.path).status == 200, "\(link)")
            }
        }
    }

    @Test func aRunbookLinksTheOthersThatItNames() async throws {
        let page = try await withAdmin(FakeAgent()) { try await $0.get("/help/runbooks/StarwatchPollStaleCritical") }
            .text
        #expect(page.contains("<a href=\"StarwatchPollStale\">StarwatchPollStale</a>"))
        #expect(!page.contains("href=\"StarwatchPollStaleCritical\""))
    }

    @Test func markdownBecomesBlocksAndIsEscaped() {
        let text = """
            # A <b>

            One
            line `x < y`.

            - first
              goes on
            - second
            1. third

            ```
            a && b
              - c
            ```
            """
        #expect(
            Markdown { $0 == "third" ? "3" : nil }.html(text).text == """
                <h1>A &lt;b&gt;</h1>
                <p>One line <code>x &lt; y</code>.</p>
                <ul>
                <li>first goes on</li>
                <li>second</li>
                </ul>
                <ol>
                <li><a href="3">third</a></li>
                </ol>
                <pre tabindex="0"><code>a &amp;&amp; b
                  - c</code></pre>

                """
        )
    }
}

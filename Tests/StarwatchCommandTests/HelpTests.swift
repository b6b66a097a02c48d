import ArgumentParser
import Foundation
import Testing

@testable import StarwatchCommand

@Suite struct HelpTests {
    @Test func theFirstPageNamesEveryCommandInItsGroup() async throws {
        let text = try #require(await Self.pages.value.first).text
        let order = [
            "Watches starred projects", "Exit codes: 0 good", "USAGE: starwatch <subcommand>", "AGENT SUBCOMMANDS:",
            "  run  ", "  status  ", "  poll  ", "  logs  ", "CONFIGURATION SUBCOMMANDS:", "  check  ", "  config  ",
            "  next-runs  ", "  metrics  ", "DATA SUBCOMMANDS:", "  outbox  ", "  explain  ", "  quarantine  ",
            "  notifications  ", "  deeplink  ", "  digests  ", "  identity  ", "  stars  ", "  schema  ",
        ]
        var rest = text[...]
        for part in order {
            guard let range = rest.range(of: part) else {
                Issue.record("\(part) is missing or out of order")
                return
            }
            rest = rest[range.upperBound...]
        }
    }

    private struct Page: Sendable {
        let path: [String]
        let isOfCommand: Bool
        let text: String
        var name: String { path.joined(separator: " ") }
    }

    /// The pages of all commands, made once: together they take three seconds.
    private static let pages = Task {
        var pages: [Page] = []
        var rest: [(command: any ParsableCommand.Type, path: [String])] = [(StarwatchTool.self, [])]
        while let (command, path) = rest.popLast() {
            let children = command.configuration.subcommands
            rest += children.map { ($0, path + [$0._commandName]) }
            let text = await StarwatchTool.run(path + ["--help"]).output
            pages.append(Page(path: path, isOfCommand: children.isEmpty, text: text))
        }
        return pages
    }

    /// ArgumentParser finds two options of one name only when the command is used.
    @Test func everyPageFitsIn80ColumnsAndShowsCommandsThatWork() async throws {
        for page in await Self.pages.value {
            #expect(page.text.contains("USAGE: starwatch"), "\(page.name): \(page.text)")
            let lines = page.text.split(separator: "\n")
            #expect(lines.filter { $0.count > 80 } == [], "\(page.name)")
            guard page.isOfCommand else { continue }
            let examples = lines.drop { $0 != "Examples:" }.dropFirst().prefix { $0.hasPrefix("  ") }
            #expect(!examples.isEmpty, "\(page.name) has no example")
            for example in examples {
                var words = example.prefix { $0 != ">" && $0 != "|" }.split(separator: " ").map(String.init)
                if words.first == "sudo" { words.removeFirst() }
                let placeholder = words.map {
                    $0 == "did:ethr:0x…" ? "did:ethr:0x0000000000000000000000000000000000000001" : $0
                }
                #expect(placeholder.first == "starwatch", "\(example)")
                #expect(throws: Never.self, "\(example)") {
                    _ = try StarwatchTool.parseAsRoot(Array(placeholder.dropFirst()))
                }
                let named = CommandEnding.commandPath(Array(words.dropFirst()))
                #expect(page.path.starts(with: named) && !named.isEmpty, "\(example)")
            }
        }
    }

    @Test func everyListingAndCheckPrintsJSON() async {
        let others = ["init", "run", "config default", "openapi", "schema"]
        let pages = await Self.pages.value.filter { $0.isOfCommand && !others.contains($0.name) }
        #expect(pages.filter { !$0.text.contains("--json") }.map(\.name) == [])
    }

    @Test(arguments: [
        ("run", "USAGE: starwatch run [--config <file>]"),
        ("check", "USAGE: starwatch check [<file>] [--strict] [--render] [--config <file>] [--json]"),
        ("config print", "USAGE: starwatch config print [--config <file>] [--json]"),
        ("config default", "USAGE: starwatch config default"),
        ("config reference", "USAGE: starwatch config reference [--man] [--json]"),
        ("poll", "USAGE: starwatch poll <subcommand>"),
        ("poll try", "USAGE: starwatch poll try <name> [--config <file>] [--json]"),
        (
            "poll run",
            "USAGE: starwatch poll run <name> [--unless-within <time>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        ("next-runs", "USAGE: starwatch next-runs <name> [--count <count>] [--config <file>] [--json]"),
        (
            "status",
            "USAGE: starwatch status [--watch] [--interval <time>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "outbox list",
            "USAGE: starwatch outbox list [--state <state>] [--twice] [--poll <poll>] [--before <before>] [--limit <limit>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "explain",
            "USAGE: starwatch explain <id> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "logs",
            "USAGE: starwatch logs [--since <since>] [--level <level>] [--run <run>] [--follow] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "outbox show",
            "USAGE: starwatch outbox show <id> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "outbox retry",
            "USAGE: starwatch outbox retry [<ids> ...] [--all] [--poll <poll>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "outbox discard",
            "USAGE: starwatch outbox discard [--claimed] [<ids> ...] [--all] [--poll <poll>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "quarantine list",
            "USAGE: starwatch quarantine list [--poll <poll>] [--before <before>] [--limit <limit>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "quarantine discard",
            "USAGE: starwatch quarantine discard [<ids> ...] [--all] [--poll <poll>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "notifications follow",
            "USAGE: starwatch notifications follow [--after <after>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "notifications list",
            "USAGE: starwatch notifications list [--before <before>] [--change <change>] [--limit <limit>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "notifications show",
            "USAGE: starwatch notifications show <id> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "notifications act",
            "USAGE: starwatch notifications act <id> <action> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "feed url",
            "USAGE: starwatch feed url [--host <host:port>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "feed rotate",
            "USAGE: starwatch feed rotate [--host <host:port>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "deeplink",
            "USAGE: starwatch deeplink <url> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        ("digests", "USAGE: starwatch digests <subcommand>"),
        (
            "digests list",
            "USAGE: starwatch digests list [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "digests fetch",
            "USAGE: starwatch digests fetch <name> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "digests show",
            "USAGE: starwatch digests show <name> [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "identity show",
            "USAGE: starwatch identity show [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "identity set",
            "USAGE: starwatch identity set [<did>] [--sign-out] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars list",
            "USAGE: starwatch stars list [--archived] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars restore",
            "USAGE: starwatch stars restore [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars set",
            "USAGE: starwatch stars set <ids> ... [--force] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars add",
            "USAGE: starwatch stars add <ids> ... [--force] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars remove",
            "USAGE: starwatch stars remove <ids> ... [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars opt-out",
            "USAGE: starwatch stars opt-out [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        (
            "stars opt-in",
            "USAGE: starwatch stars opt-in [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
        ),
        ("schema", "USAGE: starwatch schema [--from <version>]"), ("openapi", "USAGE: starwatch openapi"),
        ("metrics catalogue", "USAGE: starwatch metrics catalogue [--markdown] [--config <file>] [--json]"),
    ])
    func eachCommandSaysWhatItTakes(_ command: String, _ usage: String) async throws {
        let text = try #require(await Self.pages.value.first { $0.name == command }).text
        // The usage has several lines if it is longer than 80 columns.
        let lines = text.replacing("\n         ", with: " ").split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("OVERVIEW: ") == true)
        #expect(lines.first?.hasSuffix(".") == true)
        #expect(lines.contains(usage), "\(text)")
    }
}

import ArgumentParser
import Foundation
import Testing

@testable import StarwatchCommand

@Suite struct HelpTests {
    private func help(_ path: [String]) async -> String { await StarwatchTool.run(path + ["--help"]).output }

    @Test func theFirstPageNamesEveryCommandInItsGroup() async {
        let text = await help([])
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

    /// ArgumentParser finds two options of one name only when the command is used.
    @Test func everyCommandCanBeUsed() async {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) async {
            let text = await help(path)
            #expect(text.contains("USAGE: starwatch"), "\(path): \(text)")
            for next in command.configuration.subcommands { await check(next, path + [next._commandName]) }
        }
        await check(StarwatchTool.self, [])
    }

    @Test func everyPageFitsIn80ColumnsAndShowsCommandsThatWork() async throws {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) async throws {
            let text = await help(path)
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(path): \(line)") }
            let children = command.configuration.subcommands
            for next in children { try await check(next, path + [next._commandName]) }
            guard children.isEmpty else { return }
            let lines = text.split(separator: "\n").drop { $0 != "Examples:" }.dropFirst()
            let examples = lines.prefix { $0.hasPrefix("  ") }
            #expect(!examples.isEmpty, "\(path) has no example")
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
                #expect(path.starts(with: named) && !named.isEmpty, "\(example)")
            }
        }
        try await check(StarwatchTool.self, [])
    }

    @Test func everyListingAndCheckPrintsJSON() async {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) async {
            let children = command.configuration.subcommands
            for next in children { await check(next, path + [next._commandName]) }
            let others = ["init", "run", "config default", "schema"]
            guard children.isEmpty, !others.contains(path.joined(separator: " ")) else { return }
            let text = await help(path)
            #expect(text.contains("--json"), "\(path)")
        }
        await check(StarwatchTool.self, [])
    }

    @Test(arguments: [
        ("run", "USAGE: starwatch run [--config <file>]"),
        ("check", "USAGE: starwatch check [<file>] [--strict] [--render] [--config <file>] [--json]"),
        ("config print", "USAGE: starwatch config print [--config <file>] [--json]"),
        ("config default", "USAGE: starwatch config default"),
        ("config reference", "USAGE: starwatch config reference [--man] [--json]"),
        (
            "poll",
            "USAGE: starwatch poll <name> [--unless-within <time>] [--config <file>] [--socket <path>] [--timeout <time>] [--account <did>] [--json]"
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
        ("feed url", "USAGE: starwatch feed url [--host <host:port>] [--config <file>] [--json]"),
        ("feed rotate", "USAGE: starwatch feed rotate [--host <host:port>] [--config <file>] [--json]"),
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
        ("schema", "USAGE: starwatch schema [--from <version>]"),
        ("metrics catalogue", "USAGE: starwatch metrics catalogue [--markdown] [--config <file>] [--json]"),
    ])
    func eachCommandSaysWhatItTakes(_ command: String, _ usage: String) async {
        let text = await help(command.split(separator: " ").map(String.init))
        // The usage has several lines if it is longer than 80 columns.
        let lines = text.replacing("\n         ", with: " ").split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("OVERVIEW: ") == true)
        #expect(lines.first?.hasSuffix(".") == true)
        #expect(lines.contains(usage), "\(text)")
    }
}

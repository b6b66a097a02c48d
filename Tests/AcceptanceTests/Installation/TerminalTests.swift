import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// What a person sees in a terminal, a pipe and a watch.
@Suite(.timeLimit(.minutes(5))) struct TerminalTests {
    /// Runs a command on a pseudo-terminal, where a person answers questions with yes, and those for a secret with `secret`.
    private func onTerminal(
        _ arguments: [String],
        secret: String = "",
        environment: [String: String] = [:]
    ) async throws -> String {
        let script = """
            import os, pty, sys
            output = b""
            def read(descriptor):
                global output
                data = os.read(descriptor, 65536)
                output += data
                if output.endswith(b"[y/N]: "):
                    os.write(descriptor, b"y\\n")
                if output.endswith(b"not shown): "):
                    os.write(descriptor, os.environ["SECRET"].encode() + b"\\n")
                return data
            status = pty.spawn(sys.argv[1:], read)
            """
        let environment = ["TERM": "xterm", "NO_COLOR": "", "SECRET": secret].merging(environment) { $1 }
        let python = try Program.find("python3")
        let command = ["-c", script, Binary.starwatch.path] + arguments
        return try await runToEnd(python, command, environment: environment).output
    }

    private func with(_ body: (RunningAgent, String) async throws -> Void) async throws {
        let world = try await AgentWorld(server: { $0.planCount = 3 })
        world.mock.publish(count: 2)
        world.mock.publish([MockChange(planID: world.mock.planIDs[2], name: "\u{202E}גן")])
        let agent = try await world.start()
        await agent.pages.waitForPoll()
        try await body(agent, world.config)
        try await world.mock.stop()
    }

    @Test func statesHaveColoursOnATerminalOnly() async throws {
        try await with { _, config in
            let status = ["status", "--config", config]
            let coloured = try await onTerminal(status)
            #expect(coloured.contains("\u{1B}[32mhealthy\u{1B}[0m"), "\(coloured)")
            for plain in [
                try await onTerminal(status, environment: ["NO_COLOR": "1"]), try await onTerminal(status + ["--json"]),
                try await starwatch(status).output,
            ] { #expect(plain.contains("healthy") && !plain.contains("\u{1B}")) }
        }
    }

    @Test func starsHaveTheirNames() async throws {
        try await with { _, config in
            let lines = try await starwatch("stars", "list", "--config", config).output.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines.contains { $0.contains(#/  [A-Z]\w+ [A-Z]/#) }, "\(lines)")
            // It does not turn the text around it.
            #expect(lines.contains { $0.hasSuffix("  \u{2068}גן\u{2069}") }, "\(lines)")
            struct Star: Decodable { let plan_id: String }
            let json = try await starwatch("stars", "list", "--json", "--config", config).output
            #expect(try JSONDecoder().decode([Star].self, from: Data(json.utf8)).count == 3)
        }
    }

    @Test func aWatchShowsTheAgentGoAndEndsByAnInterrupt() async throws {
        try await with { agent, config in
            let workspace = try Workspace()
            let output = workspace.url.appending(path: "out")
            try Data().write(to: output)
            let process = Process()
            process.executableURL = Binary.starwatch
            process.arguments = ["status", "--watch", "--interval", "100ms", "--config", config]
            process.standardOutput = try FileHandle(forWritingTo: output)
            try process.start()
            func shows(_ text: String) async -> Bool {
                await eventually {
                    (try? String(contentsOf: output, encoding: .utf8))?.contains(text) == true ? true : nil
                }
                    ?? false
            }
            #expect(await shows("Status    healthy"))
            await agent.stop()
            #expect(await shows("No agent answers."))
            process.interrupt()
            await process.end()
            #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
        }
    }

    @Test func initTakesAPastedTokenAndDoesNotShowIt() async throws {
        let workspace = try Workspace()
        let answers = ["init", "--untested", "--no-encryption", "--folder", workspace.url.path]
        let more = ["--server", "http://127.0.0.1:1", "--did", "did:ethr:0x00000000000000000000000000000000000000aa"]
        let star = ["--star", "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"]
        let secret = "AbCdEf0123456789"
        let sink = ["--sink", "gotify:http://127.0.0.1:1"]
        let output = try await onTerminal(answers + more + star + sink, secret: secret)
        #expect(output.contains("(what you type is not shown): ") && !output.contains(secret), "\(output)")
        let file = workspace.path("gotify.token")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == secret + "\n")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let checked = try await starwatch("check", "--config", workspace.path("starwatch.yaml"))
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test func initChangesTheStarsOnRequestWithoutLinesOfALog() async throws {
        let workspace = try Workspace()
        let plans = ["7", "8"].map { "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV3" + $0 }
        let answers = ["init", "--untested", "--no-encryption", "--folder", workspace.url.path, "--sink", "feed"]
        let more = ["--server", "http://127.0.0.1:1", "--did", "did:ethr:0x00000000000000000000000000000000000000aa"]
        #expect(try await starwatch(answers + more + ["--star", plans[0]]).status == 0)
        let config = workspace.path("starwatch.yaml")
        #expect(try await starwatch("stars", "set", plans[0], "--config", config).status == 0)
        let output = try await onTerminal(answers + more + ["--star", plans[1]])
        #expect(output.contains("The stars are set.") && !output.contains("{"), "\(output)")
        let stars = try await starwatch("stars", "list", "--json", "--config", config)
        #expect(stars.output.contains(plans[1]) && !stars.output.contains(plans[0]), "\(stars.output)")
    }
}

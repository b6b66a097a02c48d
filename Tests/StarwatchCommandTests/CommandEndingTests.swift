import Foundation
import Starwatch
import Testing

@testable import StarwatchCommand

@Suite struct CommandEndingTests {
    @Test(arguments: [
        (["run", "--bogus"], "starwatch: Unknown option '--bogus'. See 'starwatch run --help'."),
        (["poll"], "starwatch: Missing expected argument '<name>'. See 'starwatch poll --help'."),
        (["stauts"], "starwatch: There is no command \"stauts\"; did you mean \"status\"? See 'starwatch --help'."),
        (
            ["outbox", "lst"],
            "starwatch: There is no command \"outbox lst\"; did you mean \"list\"? See 'starwatch outbox --help'."
        ),
        (["identity", "set"], "starwatch: Give either a DID or --sign-out. See 'starwatch identity set --help'."),
        (
            ["identity", "set", "me"],
            "starwatch: That is not a DID; write one such as did:ethr:0x…. See 'starwatch identity set --help'."
        ),
        (
            ["identity", "set", "did:ethr:0xYOUR"],
            "starwatch: The DID still has a placeholder; write your own DID, as the app shows it. See 'starwatch identity set --help'."
        ),
        (["help", "nosuch"], "starwatch: There is no command \"nosuch\". See 'starwatch --help'."),
        (
            ["help", "outbox", "lst"],
            "starwatch: There is no command \"outbox lst\"; did you mean \"list\"? See 'starwatch outbox --help'."
        ),
        (
            ["next-runs", "a", "--count", "0"],
            "starwatch: --count must be between 1 and 10000. See 'starwatch next-runs --help'."
        ),
        (
            ["metrics", "catalogue", "--json", "--markdown"],
            "starwatch: Give either --markdown or --json. See 'starwatch metrics catalogue --help'."
        ),
    ])
    func wrongUsageIsOneSentenceAndExits2(_ arguments: [String], _ sentence: String) async {
        let ending = await StarwatchTool.run(arguments)
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines == [sentence])
        #expect(ending.output.isEmpty)
    }

    @Test(arguments: [true, false])
    func aDatabaseThatCannotBeUsedIsAFailureOfTheOperation(isDatabase: Bool) {
        var error = AgentError(.configuration, "a sentence")
        error.concernsDatabase = isDatabase
        #expect(CommandEnding(error, arguments: ["logs"]).exitCode == (isDatabase ? .failed : .usage))
    }

    @Test func anUnknownStateIsRefusedWithTheStates() async {
        let ending = await StarwatchTool.run(["outbox", "list", "--state", "ded"])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.first?.contains("did you mean \"dead\"?") == true)
    }

    @Test(arguments: [
        "outbox retry", "outbox retry 1 --all", "outbox discard 1 --poll x", "outbox list --limit 0",
        "outbox list --limit 1001",
    ])
    func rowsThatCannotBeMeantAreAUsageError(command: String) async {
        let ending = await StarwatchTool.run(command.split(separator: " ").map(String.init))
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.count == 1)
    }

    @Test(arguments: [ControlError.Kind.notFound, .conflict, .failed])
    func whatTheAgentDidNotDoIsAFailure(kind: ControlError.Kind) throws {
        let error = try #require(CommandError(ControlError(kind, "Row 7 is pending.")))
        #expect(error.exitCode == .failed)
        #expect(error.lines == ["starwatch: Row 7 is pending."])
    }

    @Test(arguments: ["check", "run", "poll x", "config print", "next-runs x", "outbox list", "status", "stars list"])
    func aBadConfigurationExits2WithEveryProblem(_ command: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("server:\n  timout: 3s\nlog:\n  level: loud\n", to: "bad.yaml")
        let ending = await StarwatchTool.run(command.split(separator: " ").map(String.init) + ["--config", file])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.count == 2)
        #expect(ending.errorLines.first?.hasPrefix("\(file):2: server.timout: ") == true)
    }

    @Test func aMissingConfigurationExits2() async {
        let ending = await StarwatchTool.run(["check", "--config", "/nowhere/starwatch.yaml"])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.count == 1)
    }

    @Test func anAgentThatDoesNotAnswerExits3() async throws {
        let folder = try TemporaryFolder()
        for command in [["status"], ["outbox", "list"], ["poll", "x"]] {
            let ending = await StarwatchTool.run(command + ["--socket", folder.path + "/none.sock"])
            #expect(ending.exitCode == .unreachable)
            #expect(ending.errorLines.count == 1)
            #expect(ending.errorLines.first?.contains("none.sock") == true)
        }
    }

    @Test func anUnknownPollNamesTheNearest() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "good.yaml")
        let ending = await StarwatchTool.run(["next-runs", "starred_project", "--config", file])
        #expect(ending.exitCode == .failed)
        #expect(
            ending.errorLines == [
                "starwatch: There is no poll \"starred_project\"; did you mean \"starred_projects\"?"
            ]
        )
    }

    /// A name that the agent does not know is a failure in every command; a command line that makes no sense is usage.
    @Test(arguments: ["poll nosuch", "sinks test nosuch", "next-runs nosuch"])
    func anUnknownNameIsAFailure(_ command: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("http: {listen: \"127.0.0.1:0\"}\n", to: "starwatch.yaml")
        let ending = await StarwatchTool.run(command.split(separator: " ").map(String.init) + ["--config", file])
        #expect(ending.exitCode == .failed)
        #expect(ending.errorLines.count == 1)
    }

    @Test(arguments: ["add", "set"])
    func aPlanThatCannotExistIsNotStarred(_ command: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("log: {level: info}\n", to: "starwatch.yaml")
        let ending = await StarwatchTool.run(["stars", command, "foo", "--config", file])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.first?.hasPrefix("starwatch: That is no plan's id; copy it from the app") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/starwatch.db"))
    }

    @Test func eachErrorHasItsCode() {
        func code(_ error: any Error) -> Int32 { CommandEnding(error, arguments: []).exitCode.rawValue }
        #expect(code(CommandError.noConfiguration) == 2)
        #expect(code(CommandError.usage("x")) == 2)
        #expect(code(CommandError.configuration(ConfigurationFailure(file: "a", problems: []))) == 2)
        #expect(code(AgentError(.configuration, "x")) == 2)
        #expect(code(AgentError(.failed, "x")) == 1)
        #expect(code(ControlError(.invalid, "x")) == 2)
        #expect(code(ControlError(.notFound, "x")) == 1)
        #expect(code(ControlError(.conflict, "x")) == 1)
        #expect(code(ControlError(.failed, "x")) == 1)
        #expect(code(ControlError(.unreachable, "x")) == 3)
        #expect(code(ControlError(.hungUp, "x")) == 1)
        #expect(code(ControlError(.unintelligible, "x")) == 1)
        #expect(code(CommandError.failed("x")) == 1)
        #expect(code(CommandError.printed(.failed)) == 1)
        #expect(code(CommandError.printed(.usage)) == 2)
    }

    @Test func whatHasBeenPrintedIsNotSaidAgain() {
        #expect(CommandEnding(CommandError.printed(.failed), arguments: ["status"]).errorLines.isEmpty)
    }

    @Test(arguments: [
        ["x\u{1B}[2J"], ["--x\u{1B}[2J"], ["outbox", "show", "\u{9B}31m"], ["check", "--config", "/x\u{7}"],
    ])
    func errorsDoNotControlTheTerminal(arguments: [String]) async {
        let ending = await StarwatchTool.run(arguments)
        #expect(ending.errorLines.count >= 1)
        for scalar in ending.errorLines.joined().unicodeScalars { #expect(TerminalText.isPrintable(scalar)) }
    }

    @Test func helpAndVersionAreOutputAndGood() async {
        let version = await StarwatchTool.run(["--version"])
        #expect(version.exitCode == .good)
        #expect(version.output == AgentVersion.current)
        for arguments in [["--version", "--verbose"], ["--verbose", "--version", "--json"]] {
            #expect(await StarwatchTool.run(arguments) == .good, "the version command prints")
        }
        let help = await StarwatchTool.run(["poll", "run", "--help"])
        #expect(help.exitCode == .good)
        #expect(help.errorLines.isEmpty)
        #expect(help.output.contains("USAGE: starwatch poll run <name>"))
    }
}

import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct SetupTests {
    /// Answers in order; then the input ends.
    private final class Script {
        var answers: [String]
        var told: [String] = []

        init(_ answers: [String]) { self.answers = answers }

        var questions: SetupQuestions {
            SetupQuestions(
                ask: { _ in self.answers.isEmpty ? nil : self.answers.removeFirst() },
                exists: { $0 == "/home/me/key" },
                home: "/home/me",
                tell: { self.told.append($0) }
            )
        }
    }

    @Test func aWrongAnswerIsAskedAgain() throws {
        let script = Script(["ftp://a", "", "did:", "alice", "~/key", "a, b", "fax:1", "ntfy:https://n.test/topic", ""])
        #expect(try script.questions.askServer() == SetupQuestions.server)
        #expect(try script.questions.askIdentity().key == "/home/me/key")
        #expect(try script.questions.askStars() == ["a", "b"])
        let sink = try script.questions.askSink()
        #expect(sink == .ntfy(url: "https://n.test", topic: "topic"))
        #expect(try script.questions.askSinkSecret(of: sink) == nil)
        #expect(script.told.count == 4)
        let end = #expect(throws: CommandError.self) { try script.questions.askServer() }
        #expect(end?.lines.first?.hasSuffix("give it with --server.") == true)
        #expect(end?.exitCode == .usage)
    }

    @Test(arguments: ["", "log:x", "webhook", "webhook:", "ntfy:https://n.test", "ntfy:topic", "file:", "fax:1"])
    func textThatIsNoSinkIsRejected(text: String) { #expect(SetupSink(text) == nil) }

    @Test(
        arguments: [
            "log", "webhook:https://w.test/h?a=b", "ntfy:https://n.test/t", "command:/bin/cat", "file:/tmp/a b",
        ],
        [true, false]
    )
    func theWrittenConfigurationIsValid(sink: String, isPackaged: Bool) throws {
        let folder = try TemporaryFolder()
        var answers = SetupAnswers()
        answers.server = "https://server.test"
        answers.did = DID("did:key:abc")
        answers.token = .sharedSecret(file: try folder.write("a secret of thirty-two bytes ok!", to: "given"))
        answers.stars = ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37", "a: \"b\" # c"]
        answers.sink = try #require(SetupSink(sink))
        if answers.sink.secret != nil { answers.sinkSecret = try folder.write("sink secret", to: "token") }
        let files = try SetupFiles(answers, isPackaged: isPackaged)
        _ = try files.write(to: folder.path, for: nil)
        let options = try ConfigurationLoader(environment: [:]).load(file: folder.path + "/starwatch.yaml").options
        #expect(options.server.url == answers.server)
        #expect(options.initialIdentity == answers.did)
        #expect(options.polls.map(\.planIDs) == [answers.stars])
        #expect(options.auth.kind == .sharedSecret && options.auth.secretFile == folder.path + "/shared.secret")
        #expect(options.delivery.sinks.map(\.name) == [answers.sink.name])
        #expect(options.storage.path.hasPrefix("/var/lib") == isPackaged)
        let secret = try String(contentsOfFile: folder.path + "/shared.secret", encoding: .utf8)
        #expect(secret == "a secret of thirty-two bytes ok!")
    }

    @Test func formerFilesAreKeptOneByOne() throws {
        let folder = try TemporaryFolder()
        for server in ["https://a.test", "https://b.test", "https://b.test", "https://c.test"] {
            var answers = SetupAnswers()
            answers.server = server
            _ = try SetupFiles(answers, isPackaged: false).write(to: folder.path, for: nil)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["starwatch.yaml", "starwatch.yaml.old", "starwatch.yaml.old2"])
    }

    @Test func aFileThatCannotBeReadIsKeptAndAFolderIsInTheWay() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/starwatch.yaml"
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/nowhere/at/all")
        let files = try SetupFiles(SetupAnswers(), isPackaged: false)
        _ = try files.write(to: folder.path, for: nil)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file + ".old") == "/nowhere/at/all")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(throws: CommandError.self) { try files.check(folder.path) }
        #expect(throws: CommandError.self) { try files.check(folder.path + "/none") }
    }
}

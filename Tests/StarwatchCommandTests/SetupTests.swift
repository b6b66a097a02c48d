import ArgumentParser
import Foundation
import Glibc
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct SetupTests {
    /// Answers in order; then the input ends.
    private final class Script {
        var answers: [String]
        var told: [String] = []
        /// The questions whose answers are not shown.
        var hidden: [String] = []

        init(_ answers: [String]) { self.answers = answers }

        var questions: SetupQuestions {
            SetupQuestions(
                ask: { _ in self.answers.isEmpty ? nil : self.answers.removeFirst() },
                askHidden: { question in
                    self.hidden.append(question)
                    return self.answers.isEmpty ? nil : self.answers.removeFirst()
                },
                exists: { $0 == "/home/me/key" },
                home: "/home/me",
                tell: { self.told.append($0) }
            )
        }
    }

    private static let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"

    @Test func aWrongAnswerIsAskedAgain() throws {
        let script = Script([
            "ftp://a", "http://server.test", "", "did:", "did:ethr:0xYOUR", "alice", "~/key", "foo",
            "\(Self.plan), \(Self.plan)", "perhaps", "", "fax:1", "webhook:http://hook.test", "command:/nowhere/x",
            "ntfy:https://n.test/topic", "/nowhere", "",
        ])
        #expect(try script.questions.askServer() == SetupQuestions.server)
        #expect(try script.questions.askIdentity().key == "/home/me/key")
        #expect(try script.questions.askStars(.endorser) == [Self.plan, Self.plan])
        #expect(try script.questions.askLastWeek())
        let sink = try script.questions.askSink()
        #expect(sink == SetupSink("ntfy:https://n.test/topic"))
        #expect(try script.questions.askSinkSecret(of: sink) == nil)
        #expect(script.told.count == 12)
        #expect(script.told.allSatisfy { $0.hasSuffix(".") && !$0.contains("YOUR") }, "\(script.told)")
        let end = #expect(throws: CommandError.self) { try script.questions.askServer() }
        #expect(end?.lines.first?.hasSuffix("give it with --server.") == true)
        #expect(end?.exitCode == .usage)
    }

    @Test func aKeyThatIsNoneIsAskedForAgain() throws {
        let script = Script(["~/key", "did:web:a.test"])
        var questions = script.questions
        questions.keyProblem = { _ in "It must contain 64 hexadecimal digits or a PEM key." }
        #expect(try questions.askIdentity().did == DID("did:web:a.test"))
        #expect(script.told == ["It must contain 64 hexadecimal digits or a PEM key."])
    }

    @Test func aRelativePathOfASinkStartsWhereTheAgentCanWrite() {
        #expect(
            SetupSink("file:n.jsonl", relativeTo: "/var/lib/starwatch")?.text == "file:/var/lib/starwatch/n.jsonl"
        )
        #expect(SetupSink("file:/srv/n.jsonl", relativeTo: "/var/lib/starwatch")?.text == "file:/srv/n.jsonl")
    }

    @Test func theSameAnswersCanBeGivenAgainAsOneCommand() throws {
        var answers = SetupAnswers()
        answers.server = "https://server.test"
        answers.token = .key(file: "/home/me/my key")
        answers.stars = [Self.plan]
        answers.announcesLastWeek = true
        answers.sink = SetupSink("ntfy:https://n.test/t")!
        answers.sinkSecret = .file("it's")
        let command = answers.command
        #expect(
            command == "starwatch init --server https://server.test --key-file '/home/me/my key' --star \(Self.plan) "
                + "--announce-last-week --sink ntfy:https://n.test/t --sink-secret-file 'it'\\''s'"
        )
    }

    @Test func withAKeyEveryPollIsOfferedAndTheChosenOnesAreConfigured() throws {
        #expect(try Script([""]).questions.askPolls() == PollKind.ofEndorser.filter { $0 != .starredProjects })
        #expect(try Script(["none"]).questions.askPolls() == [])
        let script = Script(["gifts", "offers_to_me offers_to_me", "gives_to_me, offers_to_me"])
        let some = try script.questions.askPolls()
        #expect(some == [.offersToMe, .givesToMe] && script.told.count == 2)

        let folder = try TemporaryFolder()
        var answers = SetupAnswers()
        answers.server = "https://server.test"
        answers.did = DID("did:key:abc")
        answers.token = .sharedSecret(file: try folder.write("a secret of thirty-two bytes ok!", to: "given"))
        answers.polls = SetupQuestions.otherPolls
        #expect(answers.command.contains(" --poll offers_to_me --poll offers_to_my_projects --poll offers_to_starred "))
        _ = try SetupFiles(answers, isPackaged: false).write(to: folder.path, for: nil)
        let options = try ConfigurationLoader(environment: [:]).load(file: folder.path + "/starwatch.yaml").options
        #expect(options.polls.map(\.kind) == PollKind.ofEndorser)
        #expect(options.polls.map(\.name.rawValue) == PollKind.ofEndorser.map(\.rawValue))
        #expect(options.polls.allSatisfy { $0.bootstrap == .latest })
    }

    @Test func aPollThatDoesNotExistIsAnErrorWithTheKinds() {
        let error = #expect(throws: (any Error).self) { try InitCommand.parse(["--poll", "gifts"]) }
        let text = error.map { InitCommand.message(for: $0) } ?? ""
        #expect(text.contains("--poll must be one of offers_to_me, offers_to_my_projects, offers_to_starred, "))
    }

    @Test func aSecretThatOthersCanReadIsNotCopiedInSilence() throws {
        let folder = try TemporaryFolder()
        for (mode, isSaid) in [(0o644, true), (0o600, false)] {
            let key = try folder.write("secret", to: "given", mode: mode)
            var answers = SetupAnswers()
            answers.token = .sharedSecret(file: key)
            let lines = try SetupFiles(answers, isPackaged: false).write(to: folder.path, for: nil)
            #expect(lines.contains { $0.contains("other users can read \(key)") } == isSaid)
        }
    }

    @Test func aSecretCanBePastedAndIsNotShown() throws {
        let script = Script(["", "/no/token", "sub/pass.txt", "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"])
        let sink = try #require(SetupSink("gotify:https://a.test"))
        let secret = try script.questions.askSinkSecret(of: sink)
        #expect(secret == .typed("tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"))
        #expect(script.hidden.count == 4 && script.hidden[0].hasPrefix("The sink's token, or the file with it ("))
        #expect(
            script.told == ["The sink needs its token."]
                + Array(
                    repeating: "There is no such file that can be read; write a secret that begins with / into a file.",
                    count: 2
                )
        )

        let folder = try TemporaryFolder()
        var answers = SetupAnswers()
        (answers.server, answers.did, answers.sink) = ("https://server.test", DID("did:key:abc"), sink)
        answers.sinkSecret = secret
        #expect(!answers.command.contains("tk_") && !answers.command.contains("--sink-secret-file"))
        _ = try SetupFiles(answers, isPackaged: false).write(to: folder.path, for: nil)
        let file = folder.path + "/gotify.token"
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2\n")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let configuration = try String(contentsOfFile: folder.path + "/starwatch.yaml", encoding: .utf8)
        #expect(configuration.contains("token_file: gotify.token") && !configuration.contains("tk_"))
    }

    @Test func aTypedSecretThatCannotBeSentIsAskedForAgain() throws {
        let gotify = Script(["two words", "tk_one"])
        #expect(
            try gotify.questions.askSinkSecret(of: try #require(SetupSink("gotify:https://a.test"))) == .typed("tk_one")
        )
        #expect(
            gotify.told == [
                "It cannot be used; it must have one token of printable ASCII; remove spaces and other lines."
            ]
        )
        let mail = Script(["a\u{8}b", "two words"])
        let sink = try #require(SetupSink("email:smtps://a.test/a@b"))
        #expect(try mail.questions.askSinkSecret(of: sink) == .typed("two words"))
        #expect(mail.told.count == 1)
    }

    @Test func theQuestionForStarsSaysWhereTheyAreAndTakesALink() throws {
        let script = Script(["https://timesafari.app/deep-link/project/01JWMCKG0022HDXJ4G4Q61XV37"])
        #expect(try script.questions.askStars(.endorser) == [Self.plan])
        #expect(script.told == [SetupQuestions.aboutStars])
    }

    @Test func aMachineWithoutAScreenIsToldHowToReachThePage() throws {
        var setup = Setup(answers: SetupAnswers(), folder: "/srv", user: nil, say: { _ in }, progress: { _ in })
        let note = try #require(setup.headlessNote("/srv/starwatch.yaml", [:]))
        #expect(note.contains("\n  ssh -L 9464:127.0.0.1:9464 THIS-MACHINE\n") && note.contains("enable-linger"))
        #expect(note.hasSuffix(" starwatch run --config /srv/starwatch.yaml"))
        #expect(setup.headlessNote("/srv/starwatch.yaml", ["DISPLAY": ":0"]) == nil)
        setup = Setup(
            answers: SetupAnswers(),
            folder: "/srv",
            user: ServiceUser(id: 990, group: 990),
            say: { _ in },
            progress: { _ in }
        )
        #expect(setup.headlessNote("/srv/starwatch.yaml", [:])?.contains("linger") == false)
    }

    @Test func theDifferenceOfStarsIsCounted() {
        #expect(Setup.difference(from: ["a"], to: ["a"]) == nil)
        let both = Setup.difference(from: ["a", "b"], to: ["c", "d", "a"])
        #expect(both?.hasPrefix("2 of the new configuration's plans are missing there, and 1 of its own is") == true)
    }

    @Test(arguments: [
        (["email", "smtps://mail.test/", "me@a.test"], "email:smtps://mail.test/me@a.test", []),
        (
            ["email", "mail.test", "me@a.test", "smtps://mail.test", "me", "smtps://mail.test", "", "me@a.test"],
            "email:smtps://mail.test/me@a.test",
            ["The mail server must start with smtps://", "Your address must be one address", "There is no default"]
        ), (["slack", "https://a.test/services/x"], "slack:https://a.test/services/x", []),
        (
            ["slack", "https://a.test/x", "https://a.test/services/x"], "slack:https://a.test/services/x",
            ["must be the address that slack gave"]
        ), (["matrix", "https://a.test", "!abc:a.test"], "matrix:https://a.test/!abc:a.test", []),
        (
            ["matrix", "https://a.test", "#abc:a.test", "https://a.test", "!abc:a.test"],
            "matrix:https://a.test/!abc:a.test", ["The receiver must be the id of the room"]
        ),
        (["telegram", "12"], "telegram:12", []), (["gotify", "https://a.test"], "gotify:https://a.test", []),
    ])
    func mailAndChatsAreAskedForInParts(answers: [String], sink: String, told: [String]) throws {
        let script = Script(answers)
        #expect(try script.questions.askSink() == SetupSink(sink))
        #expect(script.answers.isEmpty && script.told.count == told.count, "\(script.told)")
        for (said, expected) in zip(script.told, told) { #expect(said.contains(expected), "\(said)") }
    }

    @Test func whoCannotBeAskedIsToldTheFormOfTheSink() throws {
        #expect(SetupSink.named("matrix")?.form == "matrix:URL/RECEIVER")
        #expect(SetupSink.named("telegram")?.form == "telegram:RECEIVER")
        for name in ["email"] + SinkFormat.allCases.map(\.rawValue) {
            let sink = try #require(SetupSink.named(name))
            let form = sink.form
            #expect(SetupSink.forms.contains(form) && SetupSink.shortForms.contains(name))
            #expect(SetupSink(form.replacing("URL", with: "https://a.test/x")) != nil)
            let end = #expect(throws: CommandError.self) { try Script([]).questions.askParts(of: sink) }
            #expect(end?.lines.first?.hasSuffix("give it with --sink \(form).") == true)
        }
    }

    @Test func aTokenThatAChatNeedsIsNoChoice() throws {
        let sink = try #require(SetupSink("telegram:12"))
        #expect(try Script(["", "~/key"]).questions.askSinkSecret(of: sink) == .file("/home/me/key"))
        #expect(
            try Script([""]).questions.askSinkSecret(of: try #require(SetupSink("email:smtps://a.test/a@b"))) == nil
        )
        #expect(
            try Script([]).questions.askSinkSecret(of: try #require(SetupSink("slack:https://a.test/services/x")))
                == nil
        )
    }

    @Test func theAddressOfAChatThatIsASecretIsInAFileAndNotInACommand() throws {
        let folder = try TemporaryFolder()
        var answers = SetupAnswers()
        answers.server = "https://server.test"
        answers.did = DID("did:key:abc")
        answers.sink = try #require(SetupSink("discord:https://a.test/api/webhooks/1/secret"))
        #expect(answers.command.hasSuffix("--sink discord"))
        _ = try SetupFiles(answers, isPackaged: false).write(to: folder.path, for: nil)
        let yaml = try String(contentsOfFile: folder.path + "/starwatch.yaml", encoding: .utf8)
        #expect(yaml.contains("url_file: discord.url") && !yaml.contains("secret"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/discord.url")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: [
        "", "log:x", "webhook", "webhook:", "ntfy:https://n.test", "ntfy:topic", "file:", "fax:1", "email",
        "email:me@a.test", "slack", "slack:", "matrix:https://a.test", "telegram:",
    ])
    func textThatIsNoSinkIsRejected(text: String) { #expect(SetupSink(text) == nil) }

    @Test(
        arguments: [
            "log", "feed", "webhook:https://w.test/h?a=b", "ntfy:https://n.test/t", "command:/bin/cat", "file:/tmp/a b",
            "email:smtps://mail.test/me@a.test", "slack:https://a.test/services/x", "matrix:https://a.test/!abc:a.test",
            "telegram:12", "pushover:u", "gotify:https://a.test", "teams:https://a.test/workflows/x",
        ],
        [true, false]
    )
    func theWrittenConfigurationIsValid(sink: String, isPackaged: Bool) throws {
        let folder = try TemporaryFolder()
        var answers = SetupAnswers()
        answers.server = "https://server.test"
        answers.did = DID("did:key:abc")
        answers.token = .sharedSecret(file: try folder.write("a secret of thirty-two bytes ok!", to: "given"))
        answers.announcesLastWeek = isPackaged
        answers.stars = ["https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37", "a: \"b\" # c"]
        answers.sink = try #require(SetupSink(sink))
        if answers.sink.secret != nil { answers.sinkSecret = .file(try folder.write("sink-secret", to: "token")) }
        let files = try SetupFiles(answers, isPackaged: isPackaged)
        _ = try files.write(to: folder.path, for: nil)
        let options = try ConfigurationLoader(environment: [:]).load(file: folder.path + "/starwatch.yaml").options
        #expect(options.server.url == answers.server)
        #expect(options.initialIdentity == answers.did)
        #expect(options.polls.map(\.planIDs) == [answers.stars])
        #expect(options.auth.kind == .sharedSecret && options.auth.secretFile == folder.path + "/shared.secret")
        #expect(options.delivery.sinks.map(\.name) == [answers.sink.name])
        #expect(options.polls.map(\.bootstrap) == [isPackaged ? .lastWeek : .latest])
        #expect(options.storage.path.hasPrefix("/var/lib") == isPackaged)
        let secret = try String(contentsOfFile: folder.path + "/shared.secret", encoding: .utf8)
        #expect(secret == "a secret of thirty-two bytes ok!")
    }

    /// The agent would refuse the configuration.
    @Test(arguments: [0o755, 0o1777, 0o775, 0o777])
    func aFolderThatOthersCanChangeIsRefusedBeforeAnythingIsWritten(mode: Int) throws {
        let folder = try TemporaryFolder()
        let inner = folder.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        let files = try SetupFiles(SetupAnswers(), isPackaged: false)
        for place in [inner, folder.path] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place)
            if mode == 0o755 || mode == 0o1777 {
                try files.check(inner)
            } else {
                let error = #expect(throws: CommandError.self) { try files.check(inner) }
                #expect(error?.lines.first?.contains("on \(place), or name another folder") == true)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
        }
    }

    /// `run` would refuse the configuration behind it.
    @Test(.enabled(if: geteuid() == 0)) func aFolderBehindALinkOfAnotherUserIsRefused() throws {
        let folder = try TemporaryFolder()
        for name in ["open", "real"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755]
            )
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path + "/open")
        let link = folder.path + "/open/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../real")
        let files = try SetupFiles(SetupAnswers(), isPackaged: false)
        try files.check(link)
        try #require(lchown(link, TemporaryFolder.stranger, 0) == 0)
        let error = #expect(throws: CommandError.self) { try files.check(link) }
        #expect(error?.lines.first?.contains("run 'chown -h' on \(link), or name another folder") == true)
    }

    /// The file that is there is renamed, so its mode says nothing about the new one.
    @Test func aFormerFileThatOthersCanChangeDoesNotHideItsFolder() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "starwatch.yaml", mode: 0o666)
        let files = try SetupFiles(SetupAnswers(), isPackaged: false)
        try files.check(folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        #expect(throws: CommandError.self) { try files.check(folder.path) }
    }

    /// The trial would run it, and the agent would refuse it.
    @Test(arguments: [true, false])
    func aProgramThatOthersCanReplaceIsRefusedBeforeItRuns(isTried: Bool) async throws {
        let folder = try TemporaryFolder()
        let program = try folder.write("#!/bin/sh\ntouch \(folder.path)/ran\n", to: "notify", mode: 0o777)
        let inner = folder.path + "/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
        var answers = SetupAnswers()
        answers.server = "http://127.0.0.1:1"
        answers.sink = try #require(SetupSink("command:\(program)"))
        let setup = Setup(answers: answers, folder: inner, user: nil, say: { _ in }, progress: { _ in })
        let error = await #expect(throws: ConfigurationFailure.self) { try await setup.run(isTried: isTried) }
        let line = error?.lines.first ?? ""
        #expect(line.hasPrefix("starwatch init: delivery.sinks[0].argv: \(program) can be changed"), "\(line)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner) == [])
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/ran"))
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

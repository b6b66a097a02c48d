import ArgumentParser
import Foundation
import Glibc
import Starwatch
import StarwatchCore

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "init",
        "Write a first configuration, after trying it.",
        """
        Asks for missing options on a terminal. Then polls the server once without storing anything, sends a test \
        notification to the sink, writes starwatch.yaml and copies of the secrets with safe modes, and prints the next \
        two commands. A relative path of a sink starts at the folder of the files, or at /var/lib/starwatch with the \
        package. A database that exists keeps its DID and plans; init says what differs. Writes nothing if a trial fails. Renames a former file to starwatch.yaml.old.

        A new database is encrypted. With the package and systemd, the master key becomes a systemd credential that only \
        root and the agent can open. Otherwise it is the file master.key beside starwatch.yaml. init says how to keep a copy. A key that \
        exists stays, and so does a database that is not encrypted.

        With --json, asks for a list once, guesses the places of the items and of their parts, and lets you correct them.
        """,
        examples: [
            "sudo starwatch init", "starwatch init --key-file did.key --star PLAN --sink webhook:URL",
            "starwatch init --did did:ethr:0x… --star PLAN --sink log --folder .",
            "starwatch init --json https://api.example.org/releases",
        ]
    )

    @Option(help: ArgumentHelp("The URL of a list to watch, of any server that answers JSON.", valueName: "url"))
    var json: String?

    @Option(
        help: ArgumentHelp("Headers of the requests for the list, \"Name: value\" a line.", valueName: "file"),
        completion: .file()
    )
    var headersFile: String?

    @Option(help: ArgumentHelp("The Endorser server.", valueName: "url"))
    var server: String?

    @Option(
        help: "The server's dialect: auto, endorser or canonical.",
        completion: .list(DialectChoice.allCases.map(\.rawValue))
    )
    var dialect: String?

    @Option(help: "The DID to sign in. Not needed with --key-file.")
    var did: String?

    @Option(
        help: ArgumentHelp("The private key of the DID: 64 hex digits or PEM.", valueName: "file"),
        completion: .file()
    )
    var keyFile: String?

    @Option(
        help: ArgumentHelp("The secret shared with the server, for HS256 tokens.", valueName: "file"),
        completion: .file()
    )
    var secretFile: String?

    @Option(help: ArgumentHelp("Tokens, one per line, or a JSON array.", valueName: "file"), completion: .file())
    var tokensFile: String?

    @Option(help: ArgumentHelp("A starred plan's id; can be repeated.", valueName: "plan"))
    var star: [String] = []

    @Option(
        help: ArgumentHelp(
            "A poll beside that of starred projects, such as offers_to_me; can be repeated.",
            valueName: "kind"
        ),
        completion: .list(SetupQuestions.otherPolls.map(\.rawValue))
    )
    var poll: [String] = []

    @Flag(help: "Announce also what changed in the last week.")
    var announceLastWeek = false

    @Option(
        help: ArgumentHelp(
            "The sink: \(SetupSink.forms). On a terminal, the name of email or a chat is enough.",
            valueName: "sink"
        )
    )
    var sink: String?

    @Option(
        help: ArgumentHelp(
            "The secret of a webhook, the token of ntfy or a chat, or the password of your mail. A terminal asks for it otherwise.",
            valueName: "file"
        ),
        completion: .file()
    )
    var sinkSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "The folder for the files. For root with the package, \(ServiceUser.folder); else the current folder.",
            valueName: "folder"
        )
    )
    var folder: String?

    @Flag(help: "Do not encrypt the database.")
    var noEncryption = false

    @Flag(help: "Write the files without trying them.")
    var untested = false

    func validate() throws {
        if let problemOfList { throw ValidationError(problemOfList) }
        if [keyFile, secretFile, tokensFile].compactMap({ $0 }).count > 1 {
            throw ValidationError("Give one of --key-file, --secret-file and --tokens-file.")
        }
        if let dialect, DialectChoice(rawValue: dialect) == nil {
            throw ValidationError("--dialect must be auto, endorser or canonical.")
        }
        if !poll.allSatisfy({ name in SetupQuestions.otherPolls.contains { $0.rawValue == name } }) {
            let kinds = SetupQuestions.otherPolls.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--poll must be one of \(kinds).")
        }
        if let problem = did.flatMap(DID.typingProblem) { throw ValidationError("--did \(problem)") }
        if sinkSecretFile != nil, let sink = sink.flatMap({ SetupSink($0) }), sink.secret == nil {
            throw ValidationError("--sink-secret-file is only for a webhook, ntfy, email or a chat with a token.")
        }
        if let sink, SetupSink(sink) ?? .named(sink) == nil {
            throw ValidationError("--sink must be \(SetupSink.forms).")
        }
    }

    /// Checks the options before anything is asked or tried.
    private func checkOptions() throws(CommandError) {
        if let problem = server.flatMap({ ValueRules.url($0) }) { throw .usage("--server \(problem)") }
        if let problem = PlanIDRule.problem(plans, in: dialect(of: server ?? SetupQuestions.server)) {
            throw .usage("--star: \(problem)")
        }
        if let problem = sink.flatMap({ SetupSink($0) })?.problem { throw .usage(problem) }
        for file in [secretFile, tokensFile, sinkSecretFile].compactMap(\.self)
        where !FileManager.default.isReadableFile(atPath: file) {
            throw .usage("\(file) cannot be read; correct its path or mode.")
        }
    }

    /// The identifiers of the starred plans, also for links.
    private var plans: [String] {
        star.map { PlanIDRule.expanded($0, in: dialect(of: server ?? SetupQuestions.server)) }
    }

    /// The dialect whose plans have the identifiers.
    private func dialect(of server: String) -> Dialect {
        PlanIDRule.certainDialect(dialect.flatMap { DialectChoice(rawValue: $0)?.fixed }, server: server)
    }

    func run() async throws {
        // Files are closed to others from their first byte on.
        umask(0o077)
        try checkOptions()
        let place = place()
        let answers = try await answers(place)
        var setup = Setup(answers: answers, folder: place.folder, user: place.user) {
            print($0)
        } progress: {
            StandardError.say($0)
        }
        setup.confirm = Self.confirms
        do {
            try await setup.run(isTried: !untested)
        } catch {
            if Self.isTerminal { print("The same answers again:\n  \(TerminalText.printable(answers.command))") }
            throw error
        }
    }

    private static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    private static func confirms(_ question: String) -> Bool {
        guard isTerminal else { return false }
        FileHandle.standardError.write(Data((question + " [y/N]: ").utf8))
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }

    /// Asks a question whose answer the terminal does not show. A signal ends the command and shows answers again.
    private static func askHidden(_ question: String) -> String? {
        let echo = TerminalEcho.hide()
        FileHandle.standardError.write(Data((question + ": ").utf8))
        defer {
            echo?.show()
            FileHandle.standardError.write(Data("\n".utf8))
        }
        // A key that does not belong to a secret.
        return readLine().flatMap { $0.unicodeScalars.contains { $0.value < 32 } ? nil : $0 }
    }

    private func place() -> (folder: String, user: ServiceUser?) {
        let user = geteuid() == 0 ? ServiceUser.find() : nil
        let packaged = user != nil && FileManager.default.fileExists(atPath: ServiceUser.folder)
        let chosen = folder.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        let folder = chosen ?? (packaged ? ServiceUser.folder : FileManager.default.currentDirectoryPath)
        return (folder, folder == ServiceUser.folder ? user : nil)
    }

    private func answers(_ place: (folder: String, user: ServiceUser?)) async throws -> SetupAnswers {
        let isTerminal = Self.isTerminal
        let sinkFolder = place.user == nil ? place.folder : ServiceUser.stateFolder
        var questions = SetupQuestions(
            ask: { question in
                guard isTerminal else { return nil }
                FileHandle.standardError.write(Data((question + ": ").utf8))
                return readLine()
            },
            askHidden: { question in
                isTerminal ? Self.askHidden(question) : nil
            },
            tell: { print($0) }
        )
        questions.sinkFolder = sinkFolder
        questions.keyProblem = { path in
            guard let content = FileManager.default.contents(atPath: path) else { return "The file cannot be read." }
            do throws(AgentError) {
                _ = try Trial.did(ofKey: Array(content))
                return nil
            } catch { return error.message }
        }
        var answers = SetupAnswers()
        if let json {
            answers.list = try await list(json, questions, isAsked: isTerminal)
        } else {
            try askEndorser(&answers, questions, isTerminal)
        }
        try askSink(&answers, questions, isTerminal)
        answers.isEncrypted = !noEncryption
        return answers
    }

    /// Asks for what polls of an Endorser server need.
    private func askEndorser(_ answers: inout SetupAnswers, _ questions: SetupQuestions, _ isTerminal: Bool) throws {
        answers.dialect = dialect
        answers.server = try server ?? (isTerminal ? questions.askServer() : SetupQuestions.server)
        var key = keyFile
        if let did { answers.did = DID(did) } else if key == nil { (answers.did, key) = try questions.askIdentity() }
        if let key {
            answers.token = .key(file: key)
            guard let content = FileManager.default.contents(atPath: key) else {
                throw CommandError.usage("The file of --key-file cannot be read; correct its path or mode.")
            }
            let own = try Trial.did(ofKey: Array(content))
            answers.did = answers.did ?? own
        }
        if let secretFile { answers.token = .sharedSecret(file: secretFile) }
        if let tokensFile { answers.token = .pool(file: tokensFile) }
        answers.stars = try star.isEmpty && isTerminal ? questions.askStars(dialect(of: answers.server)) : plans
        let asksPolls = isTerminal && poll.isEmpty && answers.token != .none
        answers.polls =
            try asksPolls
            ? questions.askPolls() : SetupQuestions.otherPolls.filter { poll.contains($0.rawValue) }
        let asksWeek = isTerminal && star.isEmpty && !announceLastWeek && !answers.stars.isEmpty
        answers.announcesLastWeek = try asksWeek ? questions.askLastWeek() : announceLastWeek
    }

    private func askSink(_ answers: inout SetupAnswers, _ questions: SetupQuestions, _ isTerminal: Bool) throws {
        if let given = sink.flatMap({ SetupSink($0, relativeTo: questions.sinkFolder) ?? .named($0) }) {
            answers.sink = try questions.askParts(of: given)
        } else {
            answers.sink = try questions.askSink()
        }
        let asksSecret = answers.sink.secret?.isNeeded == true || isTerminal && sink.flatMap { SetupSink($0) } == nil
        answers.sinkSecret =
            try sinkSecretFile.map(SetupAnswers.Secret.file)
            ?? (asksSecret ? questions.askSinkSecret(of: answers.sink) : nil)
    }
}

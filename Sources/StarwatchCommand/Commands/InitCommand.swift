import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "init",
        "Write a first configuration, after trying it.",
        """
        Asks for missing options on a terminal. Then polls the server once without storing anything, sends a test \
        notification to the sink, writes starwatch.yaml and copies of the secrets with safe modes, and prints the next \
        two commands. Writes nothing if a trial fails. Renames a former file to starwatch.yaml.old.
        """,
        examples: "sudo starwatch init",
        "starwatch init --key-file did.key --star PLAN --sink webhook:URL",
        "starwatch init --did did:ethr:0x… --star PLAN --sink log --folder ."
    )

    @Option(help: ArgumentHelp("The Endorser server.", valueName: "url"))
    var server: String?

    @Option(help: "The server's dialect: auto, endorser or canonical.")
    var dialect: String?

    @Option(help: "The DID to sign in. Not needed with --key-file.")
    var did: String?

    @Option(help: ArgumentHelp("The private key of the DID: 64 hex digits or PEM.", valueName: "file"))
    var keyFile: String?

    @Option(help: ArgumentHelp("The secret shared with the server, for HS256 tokens.", valueName: "file"))
    var secretFile: String?

    @Option(help: ArgumentHelp("Tokens, one per line, or a JSON array.", valueName: "file"))
    var tokensFile: String?

    @Option(help: ArgumentHelp("A starred plan's id; can be repeated.", valueName: "plan"))
    var star: [String] = []

    @Option(help: ArgumentHelp("The sink: \(SetupSink.forms).", valueName: "sink"))
    var sink: String?

    @Option(help: ArgumentHelp("The secret of a webhook, or the token of ntfy.", valueName: "file"))
    var sinkSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "The folder for the files. For root with the package, \(ServiceUser.folder); else the current folder.",
            valueName: "folder"
        )
    )
    var folder: String?

    @Flag(help: "Write the files without trying them.")
    var untested = false

    func validate() throws {
        if [keyFile, secretFile, tokensFile].compactMap({ $0 }).count > 1 {
            throw ValidationError("Give one of --key-file, --secret-file and --tokens-file.")
        }
        if let dialect, DialectChoice(rawValue: dialect) == nil {
            throw ValidationError("--dialect must be auto, endorser or canonical.")
        }
        if let did, DID(did) == nil { throw ValidationError("--did must be a DID, such as did:ethr:0x….") }
        if sinkSecretFile != nil, let sink = sink.flatMap({ SetupSink($0) }), sink.secret == nil {
            throw ValidationError("--sink-secret-file is only for a webhook or ntfy.")
        }
        if let sink, SetupSink(sink) == nil { throw ValidationError("--sink must be \(SetupSink.forms).") }
    }

    func run() async throws {
        // Files are closed to others from their first byte on.
        umask(0o077)
        let place = place()
        let answers = try await answers()
        let setup = Setup(answers: answers, folder: place.folder, user: place.user) {
            print($0)
        } progress: {
            FileHandle.standardError.write(Data(($0 + "\n").utf8))
        }
        try await setup.run(isTried: !untested)
    }

    private func place() -> (folder: String, user: ServiceUser?) {
        let user = geteuid() == 0 ? ServiceUser.find() : nil
        let packaged = user != nil && FileManager.default.fileExists(atPath: ServiceUser.folder)
        let chosen = folder.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        let folder = chosen ?? (packaged ? ServiceUser.folder : FileManager.default.currentDirectoryPath)
        return (folder, folder == ServiceUser.folder ? user : nil)
    }

    private func answers() async throws -> SetupAnswers {
        let isTerminal = isatty(STDIN_FILENO) == 1
        let questions = SetupQuestions(
            ask: { question in
                guard isTerminal else { return nil }
                FileHandle.standardError.write(Data((question + ": ").utf8))
                return readLine()
            },
            tell: { print($0) }
        )
        var answers = SetupAnswers()
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
        answers.stars = try star.isEmpty && isTerminal ? questions.askStars() : star
        if let sink { answers.sink = SetupSink(sink)! } else { answers.sink = try questions.askSink() }
        let asksSecret = sink == nil && isTerminal
        answers.sinkSecret = try sinkSecretFile ?? (asksSecret ? questions.askSinkSecret(of: answers.sink) : nil)
        return answers
    }
}

import ArgumentParser
import Foundation
import Glibc
import Starwatch
import StarwatchHTTP

extension AccountsCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "export",
            "Hand an account out to another agent.",
            """
            Writes all that is stored of the account to a file for 'starwatch accounts import', and stops serving it in the \
            same step. The active identity of an agent without accounts: many can be exported too. The file has personal \
            data, and keys if they are stored; delete it after the import. Repeating the command writes the same file.

            An encrypted value that does not open is left out. The command says how many there are, and ends with exit \
            code 1.
            """,
            waiting: ControlAPI.exportAccount.patience,
            examples: [
                "starwatch accounts export did:ethr:0x… --to account.json",
                "starwatch accounts export did:ethr:0x… --to - > pipe",
            ]
        )

        @OptionGroup var account: DIDArgument

        @Option(help: ArgumentHelp("The new file, or - for standard output.", valueName: "file"))
        var to: String

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            if to != "-" { try AccountsCommand.checkIsNew(to) }
            let report = try await arguments.ask(ControlAPI.exportAccount, AccountExport(did: account.did))
            if let loss = report.loss { StandardError.sayOnce("starwatch: \(loss)") }
            guard to != "-" else {
                Swift.print(report.bundle)
                if report.lost != nil { throw CommandError.printed(.failed) }
                return
            }
            try AccountsCommand.write(report.bundle, to: to)
            try arguments.print(Exported(file: to, lost: report.lost), isGood: report.lost == nil) { _ in
                """
                The account is in \(to), and this agent no longer serves it.
                The file has personal data, and keys if they were stored here. Import it, then delete it.
                """
            }
        }

        private struct Exported: Encodable {
            let file: String
            let lost: [String: Int]?
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "import",
            "Take in an account of another agent.",
            """
            Takes the file of 'starwatch accounts export', or with --from the active identity of a single agent's database. \
            An agent that has that database open stops serving the account in the same step; otherwise the command opens \
            the database itself. What cannot move is said before anything is changed. Repeating the command changes nothing.

            The agent that exported the account takes it back with --undo only: if another agent has imported the file, both \
            would announce each change.

            With --from it also stops if encrypted values do not open, because what is imported lacks them for good. \
            --without-lost-values lets it go on.
            """,
            waiting: ControlAPI.importAccount.patience,
            examples: [
                "starwatch accounts import account.json",
                "starwatch accounts import --from alice.db --from-key alice.key",
            ]
        )

        @Argument(help: "The file of accounts export, or - for standard input.", completion: .file())
        var file: String?

        @Option(
            help: ArgumentHelp("The database of an agent for one account.", valueName: "database"),
            completion: .file()
        )
        var from: String?

        @Option(
            help: ArgumentHelp("The master key of that database, if no agent has it open.", valueName: "file"),
            completion: .file()
        )
        var fromKey: String?

        @Flag(help: "Import from that database even if encrypted values do not open.")
        var withoutLostValues = false

        @Flag(help: "Take back an account that this agent exported, if no other agent has imported the file.")
        var undo = false

        @OptionGroup var arguments: AgentArguments

        func validate() throws {
            guard (file != nil) != (from != nil) else { throw ValidationError("Give either a file or --from.") }
            if from == nil, fromKey != nil { throw ValidationError("--from-key belongs to --from.") }
            if from != nil, undo { throw ValidationError("--undo belongs to a file.") }
            if from == nil, withoutLostValues { throw ValidationError("--without-lost-values belongs to --from.") }
        }

        func run() async throws {
            if let file { return try show(try await take(try AccountsCommand.read(file))) }
            let loader = arguments.access.loader
            let source = try AccountSource(path: loader.absolute(from ?? ""), keyFile: fromKey.map(loader.absolute))
            let offered = try await source.export(isTrial: true)
            let trial = try await take(offered.bundle, isTrial: true)
            guard trial.isGood else { return try show(trial) }
            // An account that has come already loses nothing more.
            if offered.lost != nil, trial.result == "possible", !withoutLostValues {
                Self.say(trial)
                throw CommandError.failed(Self.isIncomplete)
            }
            let bundle = try await source.export(isTrial: false).bundle
            do {
                let report = try await take(bundle)
                if !report.isGood { StandardError.sayOnce(Self.isBetween) }
                try show(report)
            } catch let error where !(error is CommandError) {
                StandardError.sayOnce(Self.isBetween)
                throw error
            }
        }

        /// The state after the first of two steps.
        private static let isBetween =
            "starwatch: The source no longer serves the account, and keeps its data; solve this, then repeat the command."

        private static let isIncomplete =
            "Nothing was changed; restore a backup of the source, or import without these values by --without-lost-values."

        private func take(_ bundle: String, isTrial: Bool = false) async throws -> AccountImportReport {
            try await arguments.ask(
                ControlAPI.importAccount,
                AccountImport(bundle: bundle, trial: isTrial ? true : nil, undo: undo ? true : nil)
            )
        }

        private static func say(_ report: AccountImportReport) {
            for problem in report.problems { StandardError.sayOnce("starwatch: \(problem)") }
            for warning in report.warnings { StandardError.sayOnce("starwatch: warning: \(warning)") }
        }

        private func show(_ report: AccountImportReport) throws {
            Self.say(report)
            try arguments.print(report, isGood: report.isGood, AccountsCommand.arrival)
        }
    }
}

/// The file of an exported account.
extension AccountsCommand {
    static func checkIsNew(_ path: String) throws(CommandError) {
        if FileManager.default.fileExists(atPath: path) { throw .failed("\(path) exists; name a new file.") }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw .failed("\(folder) is no folder in which this user can write; name another file.")
        }
    }

    /// Writes a new file that only this user can read.
    static func write(_ bundle: String, to path: String) throws {
        guard (try? KeyFile.create(path, bundle + "\n")) == true else {
            throw CommandError.failed(
                "The account has left, and \(path) cannot be written; repeat the command with another file."
            )
        }
    }

    /// - Parameter path: `-` for standard input.
    static func read(_ path: String) throws(CommandError) -> String {
        let data: Data?
        if path == "-" {
            data = try? FileHandle.standardInput.readToEnd()
        } else {
            data = FileManager.default.contents(atPath: path)
        }
        guard let data else { throw .failed("\(path) cannot be read; name the file of accounts export.") }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension AccountsCommand {
    static func arrival(_ report: AccountImportReport) -> String {
        switch report.result {
        case "imported":
            "This agent serves the account now, as \(TerminalText.printable(report.pseudonym)) in logs. Delete the file, and erase the account at its source."
        case "known": "The account came with this file before; nothing was changed."
        case "possible": "The account can be imported."
        default: "The account was not imported; nothing was changed here."
        }
    }
}

/// The agent that an account is moved from, by its database.
struct AccountSource {
    private let database: SourceDatabase
    /// The agent that has the database open; `nil` if none is known to.
    private let agent: ControlClient?

    /// - Parameters:
    ///   - path: The absolute path of the database.
    ///   - keyFile: The file of its master key, for a database that no agent has open.
    init(path: String, keyFile: String?) throws(CommandError) {
        guard access(path, R_OK) == 0 else {
            throw .failed("\(path) cannot be read (\(ErrnoText.of(errno))); name the database with --from.")
        }
        database = SourceDatabase(path: path, keyFile: keyFile)
        let note = SocketNotes().note(ofDatabase: path).flatMap { ControlSocket.hasListener(at: $0.socket) ? $0 : nil }
        agent = note.map { ControlClient(socketPath: $0.socket) }
        let (file, folder) = (FileAccess(path: path), FileAccess(folderOf: path))
        // The files that root would leave there could not be opened by the agent.
        if agent == nil, AgentUser.change(caller: geteuid(), database: file, folder: folder) != .stay {
            throw .failed("\(path) is another user's; run accounts export as that user, and import the file.")
        }
    }

    /// Hands out the active identity, with the agent that works for it if there is one.
    func export(isTrial: Bool) async throws -> AccountExportReport {
        let request = AccountExport(trial: isTrial ? true : nil)
        if let agent { return try await agent.perform(ControlAPI.exportAccount, request) }
        return try await database.export(request)
    }
}

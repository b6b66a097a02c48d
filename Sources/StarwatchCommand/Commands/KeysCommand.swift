import ArgumentParser
import Glibc
import Starwatch

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Encrypt the database, and manage its keys.",
        discussion: """
            A master key, kept outside the database, wraps the data keys in it. These encrypt everything that \
            identifies a person or a project. The database can also keep the keys that sign tokens.
            """,
        subcommands: [Init.self, commands[0]] + Import.commands + [Rotate.self] + Revoke.commands
            + [commands[1], EncryptDatabase.self, DecryptDatabase.self]
    )

    struct Init: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "init",
            "Make a master key.",
            """
            Writes 32 random bytes in base64 to a file that only its owner can read, and says how to keep a copy. An \
            existing file is never replaced.
            """,
            examples: ["starwatch keys init", "starwatch keys init --file /etc/starwatch/master.key"]
        )

        @Option(help: ArgumentHelp("The file to write; by default security.master_key_file.", valueName: "path"))
        var file: String?

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            var path = file
            if path == nil { path = try arguments.access.configuration(secrets: false).options.security.masterKeyFile }
            guard let path else {
                throw CommandError.usage("Name the file with --file, or set security.master_key_file first.")
            }
            let key = try KeyFiles.make(path)
            try format.print(["id": key.id, "file": path]) { _ in
                """
                The master key \(key.id) is in \(path).
                \(KeyFiles.copyAdvice("it"))
                Next: set security.master_key_file to this file. If there is a database already, stop the agent and
                run 'starwatch keys encrypt-database'.
                """
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "rotate",
            "Replace the data keys, the master key or the signing key.",
            """
            --data makes new data keys. The values are then encrypted again in the background; 'starwatch status' \
            shows how far it is.

            --master makes a new master key, wraps the data keys with it, and puts it in the place of the former \
            file. If that file cannot be replaced, as with a credential of systemd, name a file for the new key \
            with --new-key-file and install it before the next start.

            --signing makes a new shared secret (auth.stored_keys), and writes it to the file of --to for the \
            server's operator. The former one signs for 7 more days while the server does not know the new one. With \
            --emergency it signs nothing more, and is destroyed after 1 hour.

            Run an interrupted rotation again to resume it. The agent can stay running.
            """,
            waiting: ControlAPI.changeMasterKey.patience,
            examples: [
                "starwatch keys rotate --data", "starwatch keys rotate --master",
                "sudo starwatch keys rotate --master --new-key-file /etc/starwatch/new.key",
                "starwatch keys rotate --signing --to new.secret",
                "starwatch keys rotate --signing --emergency --to new.secret",
            ]
        )

        @Flag(help: "Replace the data keys.")
        var data = false

        @Flag(help: "Replace the master key.")
        var master = false

        @Flag(help: "Replace the shared secret that signs tokens.")
        var signing = false

        @Option(help: ArgumentHelp("The file for the new master key.", valueName: "path"))
        var newKeyFile: String?

        @Option(help: ArgumentHelp("The new file for the new shared secret.", valueName: "path"))
        var to: String?

        @Flag(help: "Never sign with the former secret again.")
        var emergency = false

        @OptionGroup var arguments: AgentArguments

        private func rotateMasterKey() async throws {
            let former = try arguments.access.configuration(secrets: false).options.security.masterKeyFile
            let keys = try await arguments.ask(ControlAPI.listKeys)
            let (place, key) = try KeyFiles.newMasterKey(newKeyFile, former, current: keys.masterKey?.id)
            let report = try await arguments.ask(ControlAPI.changeMasterKey, MasterKeyChange(key: key.text))
            if newKeyFile == nil, let former { try KeyFiles.replace(former, with: place) }
            try arguments.print(report) { _ in
                newKeyFile == nil
                    ? "The master key is now \(key.id), in \(former ?? place). \(KeyFiles.copyAdvice("it")) Destroy the former one."
                    : "The master key is now \(key.id), in \(place). Put it in the place of the configured key before the "
                        + "agent starts again."
            }
        }

        func validate() throws {
            guard [data, master, signing].count(where: { $0 }) == 1 else {
                throw ValidationError("Give one of --data, --master and --signing.")
            }
            if newKeyFile != nil, !master { throw ValidationError("--new-key-file goes with --master.") }
            if to != nil || emergency, !signing { throw ValidationError("--to and --emergency go with --signing.") }
            if signing, to == nil { throw ValidationError("Name a new file for the new secret with --to.") }
        }

        func run() async throws {
            if signing, let to { return try await rotateSigningKey(to) }
            if master { return try await rotateMasterKey() }
            try arguments.print(await arguments.ask(ControlAPI.rotateDataKeys), KeysCommand.rotated)
        }

        private func rotateSigningKey(_ file: String) async throws {
            let report = try await KeyFiles.rotating(to: file) { content in
                let rotation = SigningKeyRotation(content: content, emergency: emergency)
                return try await arguments.ask(ControlAPI.rotateSigningKey, rotation)
            }
            try arguments.print(report) { KeysCommand.rotatedSigning($0, file: file, isEmergency: emergency) }
        }
    }

    struct EncryptDatabase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "encrypt-database",
            "Encrypt an existing database with the configured master key.",
            """
            Stop the agent first. It is one transaction, after which the file is rewritten, so that nothing \
            readable is left in it. It needs free disk space of twice the size of the database. If it is \
            interrupted, the database is the former one, or the next run or start finishes it.
            """,
            examples: ["starwatch keys encrypt-database"]
        )

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let caller = Operator.user(geteuid(), by: .command).text
            let options = try await AgentUser.become(for: arguments.access.trustedConfiguration().options)
            let report = try await DatabaseEncryption.encrypt(options, by: caller)
            try format.print(report) { report in
                report.result == .encrypted
                    ? "The database is encrypted, with \(report.rows) rows." : "The database is encrypted already."
            }
        }
    }

    struct DecryptDatabase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "decrypt-database",
            "Decrypt the database and destroy its keys.",
            """
            Stop the agent first, and remove the setting of the master key afterwards. Shortlinks in notifications \
            that were sent stop working. Signing keys are never stored in clear form: revoke them first, or destroy \
            them with --force. Values that do not open are lost; the answer counts them.
            """,
            examples: ["starwatch keys decrypt-database"]
        )

        @Flag(help: "Destroy signing keys that are not revoked.")
        var force = false

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let caller = Operator.user(geteuid(), by: .command).text
            let options = try await AgentUser.become(for: arguments.access.trustedConfiguration().options)
            let report = try await DatabaseEncryption.decrypt(options, isForced: force, by: caller)
            try format.print(report) { report in
                """
                The database is not encrypted any more, with \(report.rows) rows. Remove security.master_key_file or
                security.master_key_command from the configuration before the next start.
                """ + (report.loss.map { "\n" + $0 } ?? "")
            }
        }
    }
}

extension KeysCommand: Questions {
    static let questions: [Question<NoOptions>] = [
        Question(
            ControlAPI.listKeys,
            "list",
            "List the keys of the database, without their secrets.",
            examples: ["starwatch keys list", "starwatch keys list --json"],
            text: KeysCommand.list
        ),
        Question(
            ControlAPI.verifyKeys,
            "verify",
            "Open every encrypted value, and list those that do not open.",
            about: "Ends with exit code 1 if a value was changed or moved.",
            examples: ["starwatch keys verify", "starwatch keys verify --json"],
            taking: { _ in },
            then: { report, _, arguments in
                try arguments.print(report, isGood: report.failed == 0, KeysCommand.verification)
            }
        ),
    ]
}

/// The keys that sign tokens.
extension KeysCommand {
    private struct Import: ParsableArguments, OneQuestion {
        static let question = Question<Import>(
            ControlAPI.importSigningKey,
            "import",
            "Store the key of a file as the signing key of the active identity.",
            about: """
                Reads what auth.secret_file or auth.key_file would hold, by auth.kind, and stores it encrypted. It signs \
                tokens if auth.stored_keys is true. A former key retires and is destroyed after 7 days. The file stays.
                """,
            examples: [
                "starwatch keys import --file shared.secret",
                "starwatch keys import --file shared.secret --kid 2026-01",
            ],
            taking: { SigningKeyImport(content: try SigningKeyFile.read($0.file), kid: $0.kid) },
            then: { report, key, arguments in
                try arguments.print(report) { KeysCommand.imported($0, from: key.file) }
            }
        )

        @Option(help: ArgumentHelp("The file with the key, of mode 0600.", valueName: "path"))
        var file: String

        @Option(
            help: ArgumentHelp("The name of the key in tokens; by default derived from the key.", valueName: "name")
        )
        var kid: String?
    }

    private struct Revoke: ParsableArguments, OneQuestion {
        static let question = Question<Revoke>(
            ControlAPI.revokeSigningKey,
            "revoke",
            "Destroy a signing key at once.",
            about: """
                Its secret is overwritten, and its name is never used again. The active key is revoked only with \
                --force, because polls then have no token until a key is imported.
                """,
            examples: ["starwatch keys revoke 5f0c1d2e3a4b", "starwatch keys revoke 5f0c1d2e3a4b --force"],
            taking: { SigningKeyRevocation(kid: $0.kid, force: $0.force) },
            text: { "The signing key \($0.key.kid) is revoked, and its secret destroyed." }
        )

        @Argument(help: "The name of the key; see 'starwatch keys list'.")
        var kid: String

        @Flag(help: "Revoke the active key too.")
        var force = false
    }
}

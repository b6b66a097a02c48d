import ArgumentParser
import Starwatch

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Encrypt the database, and manage its keys.",
        discussion: """
            A master key, kept outside the database, wraps the data keys in it. These encrypt everything that \
            identifies a person or a project.
            """,
        subcommands: [
            Init.self, List.self, Rotate.self, Verify.self, EncryptDatabase.self, DecryptDatabase.self,
        ]
    )

    struct Init: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make a master key.",
            discussion: """
                Writes 32 random bytes in base64 to a file that only its owner can read. Back the file up, apart from \
                the database: without it the database cannot be read. An existing file is never replaced.

                Examples:
                  starwatch keys init
                  starwatch keys init --file /etc/starwatch/master.key
                """
        )

        @Option(
            help: ArgumentHelp("The file to write; by default security.master_key_file.", valueName: "path")
        )
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
            try format.print(NewKey(id: key.id, file: path)) { key in
                """
                The master key \(key.id) is in \(key.file). Back it up, apart from the database: without
                it the database cannot be read.
                Next: set security.master_key_file to this file. If there is a database already, stop the agent and
                run 'starwatch keys encrypt-database'.
                """
            }
        }

        private struct NewKey: Encodable {
            let id: String
            let file: String
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keys of the database, without their secrets.",
            discussion: """
                Examples:
                  starwatch keys list
                  starwatch keys list --json
                """
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await arguments.access.perform { agent throws(ControlError) in try await agent.keys() }
            try arguments.format.print(report, KeysText.list)
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Replace the data keys or the master key, while the agent runs.",
            discussion: """
                --data makes new data keys. The values are then encrypted again in the background; 'starwatch status' \
                shows how far it is.

                --master makes a new master key, wraps the data keys with it, and puts it in the place of the former \
                file. If that file cannot be replaced, as with a credential of systemd, name a file for the new key \
                with --new-key-file and install it before the next start. A rotation that was interrupted goes on when \
                it is run again.

                Examples:
                  starwatch keys rotate --data
                  starwatch keys rotate --master
                  sudo starwatch keys rotate --master --new-key-file /root/master.key.new
                """
        )

        @Flag(help: "Replace the data keys.")
        var data = false

        @Flag(help: "Replace the master key.")
        var master = false

        @Option(help: ArgumentHelp("The file for the new master key.", valueName: "path"))
        var newKeyFile: String?

        @OptionGroup var arguments: AgentArguments

        func validate() throws {
            guard data != master else { throw ValidationError("Give either --data or --master.") }
            if newKeyFile != nil, !master { throw ValidationError("--new-key-file goes with --master.") }
        }

        func run() async throws {
            guard master else {
                let report = try await arguments.access.perform { agent throws(ControlError) in
                    try await agent.rotateDataKeys()
                }
                return try arguments.format.print(report, KeysText.rotated)
            }
            let former = try arguments.access.configuration(secrets: false).options.security.masterKeyFile
            guard let path = newKeyFile ?? former.map(MasterKeyFile.pendingPath) else {
                throw CommandError.usage("Name the file for the new key with --new-key-file.")
            }
            let key = try KeyFiles.makeOrRead(path)
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.changeMasterKey(to: key.text)
            }
            if newKeyFile == nil, let former { try KeyFiles.replace(former, with: path) }
            try arguments.format.print(report) { _ in
                newKeyFile == nil
                    ? "The master key is now \(key.id), in \(former ?? path). Back it up, and destroy the former one."
                    : "The master key is now \(key.id), in \(path). Install it as the configured key before the agent "
                        + "starts again."
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Open every encrypted value, and list those that do not open.",
            discussion: """
                Ends with exit code 1 if a value was changed or moved.

                Examples:
                  starwatch keys verify
                  starwatch keys verify --json
                """
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.verifyKeys()
            }
            try arguments.format.print(report, KeysText.verification)
            if report.failed > 0 { throw CommandError.printed(.failed) }
        }
    }

    struct EncryptDatabase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encrypt-database",
            abstract: "Encrypt an existing database with the configured master key.",
            discussion: """
                Stop the agent first. It is one transaction, after which the file is rewritten, so that nothing \
                readable is left in it. It needs free disk space of twice the size of the database. If it is \
                interrupted, the database is the former one, or the next run or start finishes it.

                Examples:
                  starwatch keys encrypt-database
                """
        )

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let report = try await KeyFiles.converted(arguments.access, DatabaseEncryption.encrypt)
            try format.print(report) { report in
                report.result == .encrypted
                    ? "The database is encrypted, with \(report.rows) rows." : "The database is encrypted already."
            }
        }
    }

    struct DecryptDatabase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decrypt-database",
            abstract: "Decrypt the database and destroy its keys.",
            discussion: """
                Stop the agent first, and remove the setting of the master key afterwards. Shortlinks in notifications \
                that were sent stop working.

                Examples:
                  starwatch keys decrypt-database
                """
        )

        @OptionGroup var arguments: ConfigurationArguments
        @OptionGroup var format: FormatArguments

        func run() async throws {
            let report = try await KeyFiles.converted(arguments.access, DatabaseEncryption.decrypt)
            try format.print(report) { report in
                """
                The database is not encrypted any more, with \(report.rows) rows. Remove security.master_key_file or
                security.master_key_command from the configuration before the next start.
                """
            }
        }
    }
}

import ArgumentParser
import Starwatch

/// The keys that sign tokens.
extension KeysCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Store the key of a file as the signing key of the active identity.",
            discussion: """
                Reads what auth.secret_file or auth.key_file would hold, by auth.kind, and stores it encrypted. It signs \
                tokens if auth.stored_keys is true. A former key retires and is destroyed after 7 days. The file stays.

                Examples:
                  starwatch keys import --file shared.secret
                  starwatch keys import --file shared.secret --kid 2026-01
                """
        )

        @Option(help: ArgumentHelp("The file with the key, of mode 0600.", valueName: "path"))
        var file: String

        @Option(
            help: ArgumentHelp("The name of the key in tokens; by default derived from the key.", valueName: "name")
        )
        var kid: String?

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let key = SigningKeyImport(content: try KeyFiles.content(of: file), kid: kid)
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.importSigningKey(key)
            }
            try arguments.format.print(report) { KeysText.imported($0, from: file) }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Destroy a signing key at once.",
            discussion: """
                Its secret is overwritten, and its name is never used again. The active key is revoked only with \
                --force, because polls then have no token until a key is imported.

                Examples:
                  starwatch keys revoke 5f0c1d2e3a4b
                  starwatch keys revoke 5f0c1d2e3a4b --force
                """
        )

        @Argument(help: "The name of the key; see 'starwatch keys list'.")
        var kid: String

        @Flag(help: "Revoke the active key too.")
        var force = false

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.revokeSigningKey(SigningKeyRevocation(kid: kid, force: force))
            }
            try arguments.format.print(report) { "The signing key \($0.key.kid) is revoked, and its secret destroyed." }
        }
    }
}

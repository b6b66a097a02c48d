import ArgumentParser
import Starwatch
import StarwatchCore

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Show or change the active identity.",
        subcommands: [Show.self, Change.self, Remove.self, Erase.self]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the active identity.",
            discussion: """
                Examples:
                  starwatch identity show
                """
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            try arguments.print(try await arguments.ask(ControlAPI.identity), IdentityText.details)
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Make a DID the active identity, or sign out.",
            discussion: """
                Cancels the rows that wait for delivery. The new identity starts with its own watermark and without \
                stars; the old stars are kept for 30 days.

                Examples:
                  starwatch identity set did:ethr:0x…
                  starwatch identity set --sign-out
                """
        )

        @Argument(help: "The DID, such as did:ethr:0x….")
        var did: String?

        @Flag(help: "Sign out: polling pauses until a DID is set.")
        var signOut = false

        @OptionGroup var arguments: AgentArguments

        func validate() throws {
            guard (did != nil) != signOut else { throw ValidationError("Give either a DID or --sign-out.") }
            if let did, DID(did) == nil { throw ValidationError("That is not a DID; write one such as did:ethr:0x….") }
        }

        func run() async throws {
            let report = try await arguments.ask(ControlAPI.setIdentity, IdentityChoice(did: did))
            try arguments.print(report, IdentityText.details)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Delete all stored data of an identity after 30 days.",
            discussion: """
                The active identity cannot be removed: sign out or change it first. Setting the identity again within \
                the 30 days restores it.

                Examples:
                  starwatch identity remove did:ethr:0x…
                """
        )

        @OptionGroup var account: DIDArgument
        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await arguments.ask(ControlAPI.removeIdentity, IdentityRemoval(did: account.did))
            try arguments.print(report, IdentityText.removal)
        }
    }

    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase",
            abstract: "Delete all stored data of an identity now, for good.",
            discussion: """
                Nothing of it stays in the database file and its write-ahead log. In an encrypted database its keys are \
                destroyed first. Files of sinks, and backups of a database that is not encrypted, are not touched. The \
                active identity cannot be erased: sign out or change it first.

                Examples:
                  starwatch identity erase did:ethr:0x…
                """
        )

        @OptionGroup var account: DIDArgument
        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await arguments.ask(ControlAPI.eraseIdentity, IdentityRemoval(did: account.did))
            try arguments.print(report) { report in
                report.purged
                    ? "Everything stored of the identity is erased."
                    : "The identity is erased. Another program reads the database, so copies stay in its write-ahead log until "
                        + "that program has closed it and the agent's next cleanup."
            }
        }
    }
}

/// A DID that must be given.
struct DIDArgument: ParsableArguments {
    @Argument(help: "The DID, such as did:ethr:0x….")
    var did: String

    func validate() throws {
        if DID(did) == nil { throw ValidationError("That is not a DID; write one such as did:ethr:0x….") }
    }
}

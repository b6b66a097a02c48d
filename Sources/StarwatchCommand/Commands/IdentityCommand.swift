import ArgumentParser
import Starwatch
import StarwatchCore

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Show or change the active identity.",
        subcommands: [Show.self, Change.self, OptOut.self, OptIn.self, Remove.self, Erase.self]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show the active identity.",
            examples: "starwatch identity show"
        )

        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await arguments.show(ControlAPI.showIdentity, IdentityText.details) }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "set",
            "Make a DID the active identity, or sign out.",
            """
            Cancels the rows that wait for delivery. The new identity starts with its own watermark and without \
            stars; the old stars are kept for 30 days.
            """,
            waiting: ControlAPI.setIdentity.patience,
            examples: "starwatch identity set did:ethr:0x…",
            "starwatch identity set --sign-out"
        )

        @Argument(help: "The DID, such as did:ethr:0x….")
        var did: String?

        @Flag(help: "Sign out: polling pauses until a DID is set.")
        var signOut = false

        @OptionGroup var arguments: AgentArguments

        func validate() throws {
            guard (did != nil) != signOut else { throw ValidationError("Give either a DID or --sign-out.") }
            if let did, DID(did) == nil { throw ValidationError("That is not a DID; write one such as did:ethr:0x….") }
            if let problem = did.flatMap(DID.typingProblem) { throw ValidationError("The DID \(problem)") }
        }

        func run() async throws {
            try await arguments.show(ControlAPI.setIdentity, IdentityChoice(did: did), IdentityText.details)
        }
    }

    struct OptOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "opt-out",
            "Stop polling for a kind of change.",
            """
            Undelivered changes of the kind are suppressed. The choice belongs to the active identity. To switch off a \
            single poll, set enabled: false in the configuration.
            """,
            waiting: ControlAPI.chooseKind.patience,
            examples: "starwatch identity opt-out offers_to_me"
        )

        @OptionGroup var kind: KindArgument
        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await kind.choose(optedOut: true, arguments) }
    }

    struct OptIn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "opt-in",
            "Poll for a kind of change again.",
            waiting: ControlAPI.chooseKind.patience,
            examples: "starwatch identity opt-in offers_to_me"
        )

        @OptionGroup var kind: KindArgument
        @OptionGroup var arguments: AgentArguments

        func run() async throws { try await kind.choose(optedOut: false, arguments) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "remove",
            "Delete all stored data of an identity after 30 days.",
            """
            The active identity cannot be removed: sign out or change it first. Setting the identity again within \
            the 30 days keeps it; changes of the time between are not announced.
            """,
            waiting: ControlAPI.removeIdentity.patience,
            examples: "starwatch identity remove did:ethr:0x…"
        )

        @OptionGroup var target: AccountTarget

        func run() async throws { try await target.show(ControlAPI.removeIdentity, IdentityText.removal) }
    }

    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "erase",
            "Delete all stored data of an identity now, for good.",
            """
            Nothing of it stays in the database file and its write-ahead log. In an encrypted database its keys are \
            destroyed first. Files of sinks, and backups of a database that is not encrypted, are not touched. The \
            active identity cannot be erased: sign out or change it first.
            """,
            waiting: ControlAPI.eraseIdentity.patience,
            examples: "starwatch identity erase did:ethr:0x…"
        )

        @OptionGroup var target: AccountTarget

        func run() async throws { try await target.show(ControlAPI.eraseIdentity, IdentityText.erasure) }
    }
}

/// A kind of poll that must be given.
struct KindArgument: ParsableArguments {
    private static let names = PollKind.allCases.map(\.rawValue)

    @Argument(
        help: "One of \(KindArgument.names.joined(separator: ", ")).",
        completion: .list(KindArgument.names),
        transform: KindArgument.read
    )
    var kind: PollKind

    private static func read(_ word: String) throws -> PollKind {
        if let kind = PollKind(rawValue: word) { return kind }
        throw ValidationError("There is no such kind; use one of \(names.joined(separator: ", ")).")
    }

    func choose(optedOut: Bool, _ arguments: AgentArguments) async throws {
        let choice = KindChoice(kind: kind, optedOut: optedOut)
        try await arguments.show(ControlAPI.chooseKind, choice) { listing in
            listing.optedOut.isEmpty
                ? "The identity is opted out of no kind."
                : "The identity is opted out of \(listing.optedOut.map(\.rawValue).joined(separator: ", "))."
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

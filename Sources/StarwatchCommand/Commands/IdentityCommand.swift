import ArgumentParser
import Starwatch
import StarwatchCore

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Show or change the active identity.",
        subcommands: Show.commands + Change.commands + KindArgument.commands + commands
    )

    private enum Show: OneQuestion {
        static let question = Question<NoOptions>(
            ControlAPI.showIdentity,
            "show",
            "Show the active identity.",
            examples: ["starwatch identity show"],
            text: IdentityCommand.details
        )
    }

    private struct Change: ParsableArguments, OneQuestion {
        static let question = Question<Change>(
            ControlAPI.setIdentity,
            "set",
            "Make a DID the active identity, or sign out.",
            about: """
                Cancels the rows that wait for delivery. The new identity starts with its own watermark and without \
                stars; the old stars are kept for 30 days.
                """,
            examples: ["starwatch identity set did:ethr:0x…", "starwatch identity set --sign-out"],
            taking: { IdentityChoice(did: $0.did) },
            text: IdentityCommand.details
        )

        @Argument(help: "The DID, such as did:ethr:0x….")
        var did: String?

        @Flag(help: "Sign out: polling pauses until a DID is set.")
        var signOut = false

        func validate() throws {
            guard (did != nil) != signOut else { throw ValidationError("Give either a DID or --sign-out.") }
            if let did, DID(did) == nil { throw ValidationError("That is not a DID; write one such as did:ethr:0x….") }
            if let problem = did.flatMap(DID.typingProblem) { throw ValidationError("The DID \(problem)") }
        }
    }
}

extension IdentityCommand: Questions {
    static let questions = [
        Question<DIDArgument>(
            ControlAPI.removeIdentity,
            "remove",
            "Delete all stored data of an identity after 30 days.",
            about: """
                The active identity cannot be removed: sign out or change it first. Setting the identity again within \
                the 30 days keeps it; changes of the time between are not announced.
                """,
            examples: ["starwatch identity remove did:ethr:0x…"],
            taking: \.account,
            text: IdentityCommand.removal
        ),
        Question(
            ControlAPI.eraseIdentity,
            "erase",
            "Delete all stored data of an identity now, for good.",
            about: """
                Nothing of it stays in the database file and its write-ahead log. In an encrypted database its keys are \
                destroyed first. Files of sinks, and backups of a database that is not encrypted, are not touched. The \
                active identity cannot be erased: sign out or change it first.
                """,
            examples: ["starwatch identity erase did:ethr:0x…"],
            taking: \.account,
            text: { IdentityCommand.erasure($0, of: "identity") }
        ),
    ]
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
}

extension KindArgument: Questions {
    static let questions = [
        Question<KindArgument>(
            ControlAPI.chooseKind,
            "opt-out",
            "Stop polling for a kind of change.",
            about: """
                Undelivered changes of the kind are suppressed. The choice belongs to the active identity. To switch off a \
                single poll, set enabled: false in the configuration.
                """,
            examples: ["starwatch identity opt-out offers_to_me"],
            taking: { KindChoice(kind: $0.kind, optedOut: true) },
            text: IdentityCommand.kinds
        ),
        Question(
            ControlAPI.chooseKind,
            "opt-in",
            "Poll for a kind of change again.",
            examples: ["starwatch identity opt-in offers_to_me"],
            taking: { KindChoice(kind: $0.kind, optedOut: false) },
            text: IdentityCommand.kinds
        ),
    ]
}

/// A DID that must be given.
struct DIDArgument: ParsableArguments {
    @Argument(help: "The DID, such as did:ethr:0x….")
    var did: String

    var account: IdentityRemoval { IdentityRemoval(did: did) }

    func validate() throws {
        if DID(did) == nil { throw ValidationError("That is not a DID; write one such as did:ethr:0x….") }
    }
}

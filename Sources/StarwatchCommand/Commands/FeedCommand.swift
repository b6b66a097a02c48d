import ArgumentParser
import Starwatch
import StarwatchCore

struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Print or replace the private address of the feed.",
        discussion: """
            Many feed readers send neither a token nor a password. Their address of the feed has a token in it, and lets in \
            whoever knows it, to the feed alone. It needs control.listen and control.feed_token_file.
            """,
        subcommands: [Address.self, Rotate.self]
    )

    struct Address: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "url",
            "Print the address, and make its token if there is none.",
            "Keep the address as you keep a password. An agent that runs without the token needs a reload first.",
            examples: "starwatch feed url",
            "starwatch feed url --host agent.example.org:9465"
        )

        @OptionGroup var place: FeedPlace

        func run() async throws { try await place.print(isNew: false) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "rotate",
            "Replace the token, and print the new address.",
            "The former address gets no answer from now on. The agent needs no reload.",
            examples: "starwatch feed rotate"
        )

        @OptionGroup var place: FeedPlace

        func run() async throws { try await place.print(isNew: true) }
    }
}

/// The configured place of the feed's private address.
struct FeedPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The host and port that readers use; by default those of control.listen.",
            valueName: "host:port"
        )
    )
    var host: String?

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    private struct Addresses: Encodable {
        let atom, json: String
    }

    /// Prints the addresses.
    ///
    /// - Parameter isNew: Whether a new token replaces the former one.
    func print(isNew: Bool) async throws {
        // Without the secrets: the token can be the one that is missing.
        let options = try arguments.access.configuration(secrets: false).options
        guard let listen = options.control.listen, let file = options.control.feedTokenFile else {
            throw CommandError.usage("Set control.listen and control.feed_token_file first, and reload the agent then.")
        }
        if host == nil, (try? ListenAddress(parsing: listen))?.isEveryAddress == true {
            throw CommandError.usage(
                "control.listen takes every address of the machine; name the readers' one with --host."
            )
        }
        // The agent's user must be able to read it.
        try await AgentUser.become(for: options)
        let token = try isNew ? FeedTokenFile.rotate(file) : FeedTokenFile.token(file)
        let scheme = try arguments.access.configuration().hasTLS(.control) ? "https" : "http"
        let root = "\(scheme)://\(host ?? listen)/feed/\(PercentEncoding.encode(token))/feed."
        try format.print(Addresses(atom: root + "atom", json: root + "json")) { "\($0.atom)\n\($0.json)" }
    }
}

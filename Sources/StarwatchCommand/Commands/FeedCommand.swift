import ArgumentParser
import Glibc
import Starwatch
import StarwatchCore
import StarwatchHTTP

struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Print or replace the private address of a feed.",
        discussion: """
            Many feed readers send neither a token nor a password. Their address of the feed has a token in it, and lets in \
            whoever knows it, to the feed alone. It needs control.listen and control.feed_token_file; with accounts: many, \
            where each account has an address of its own, only control.listen.
            """,
        subcommands: [Address.self, Rotate.self]
    )

    struct Address: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "url",
            "Print the address, and make its token if there is none.",
            "Keep the address as you keep a password. An agent that runs without control.feed_token_file needs a reload first.",
            examples: [
                "starwatch feed url", "starwatch feed url --host https://agent.example.org",
                "starwatch feed url --account did:ethr:0x…",
            ]
        )

        @OptionGroup var place: FeedPlace

        func run() async throws { try await place.print(isNew: false) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "rotate",
            "Replace the token, and print the new address.",
            "The former address gets no answer from now on. The agent needs no reload.",
            examples: ["starwatch feed rotate", "starwatch feed rotate --account did:ethr:0x…"]
        )

        @OptionGroup var place: FeedPlace

        func run() async throws { try await place.print(isNew: true) }
    }
}

/// The place of a feed's private address.
struct FeedPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The host and port that readers use, or the URL of a proxy before the agent; by default control.listen.",
            valueName: "host:port"
        )
    )
    var host: String?

    @OptionGroup var arguments: AgentArguments

    /// Prints the addresses.
    ///
    /// - Parameter isNew: Whether a new token replaces the former one.
    func print(isNew: Bool) async throws {
        // Mistakes must be found before there is a token, or the former address is gone. Only the token can be missing.
        var access = arguments.access
        access.loader.maker = FileResolver.feedTokenMaker
        let configuration = try access.configuration()
        let options = configuration.options
        let (isOfMany, file) = (options.fleetOfMany != nil, options.control.feedTokenFile)
        if !isOfMany, access.account != nil {
            throw CommandError.usage("--account is for an agent with accounts: many; leave it out.")
        }
        guard let listen = options.control.listen, isOfMany || file != nil else {
            let settings = isOfMany ? "control.listen" : "control.listen and control.feed_token_file"
            throw CommandError.usage("Set \(settings) first, and reload the agent then.")
        }
        guard options.delivery.feedKeep != nil else {
            throw CommandError.usage(
                "Add a sink of kind feed first, and reload the agent then; nothing else fills the feed."
            )
        }
        let own = ListenAddress(parsing: listen)
        if host == nil, own?.isEveryAddress == true {
            throw CommandError.usage(
                "control.listen takes every address of the machine; name the readers' one with --host."
            )
        }
        let root = try FeedRoot(host ?? listen, isEncrypted: configuration.hasTLS(.control))
        if let warning = root.warning(HostPolicy(own: own?.host, allowed: options.http.allowedHosts)) {
            StandardError.sayOnce("starwatch: warning: \(warning)")
        }
        let token: String
        if isOfMany {
            let change = FeedTokenChange(isNew ? .rotate : .create)
            token = try await access.perform(ControlAPI.changeFeedToken, change).token ?? ""
        } else {
            token = try await ownToken(in: file ?? "", access, configuration, isNew: isNew)
        }
        let feed = "\(root.address)/feed/\(PercentEncoding.encode(token))/feed."
        try arguments.print(["atom": feed + "atom", "json": feed + "json"]) { _ in "\(feed)atom\n\(feed)json" }
    }

    /// The token of an agent for one account, which is in a file.
    private func ownToken(
        in file: String,
        _ access: AgentAccess,
        _ configuration: LoadedConfiguration,
        isNew: Bool
    ) async throws -> String {
        let isThere = Glibc.access(file, F_OK) == 0
        let token = try await readToken(in: file, of: configuration, isNew: isNew)
        if isNew || !isThere { await note(isThere ? .rotate : .create, access, configuration.options) }
        return token
    }

    /// Has the journal note the change. The token is in force already, so that a failure is only said.
    private func note(_ operation: FeedTokenChange.Operation, _ access: AgentAccess, _ options: AgentOptions) async {
        // The first start creates the database.
        guard Glibc.access(options.storage.path, F_OK) == 0 || errno != ENOENT else { return }
        var access = access.hurried
        access.isQuiet = true
        do { _ = try await access.perform(ControlAPI.changeFeedToken, FeedTokenChange(operation)) } catch {
            StandardError.sayOnce("starwatch: warning: the journal does not have this change: \(error)")
        }
    }

    /// Reads or makes the token, in a file that the agent's user can read.
    private func readToken(
        in file: String,
        of configuration: LoadedConfiguration,
        isNew: Bool
    ) async throws -> String {
        let agent = AgentUser.other(configuration.options, configuration: configuration.file)
        let owner = AgentUser.owner(ofFileIn: FileAccess(folderOf: file), agent: agent)
        if owner == nil { try await AgentUser.become(for: configuration.options) }
        let token = try isNew ? FeedTokenFile.rotate(file) : FeedTokenFile.token(file)
        if let owner, lchown(file, uid_t(owner.id), gid_t(owner.group)) != 0 {
            throw CommandError.failed("\(file) cannot be given to the agent's user; run chown on it.")
        }
        return token
    }
}

/// The beginning of the addresses that readers use.
struct FeedRoot: Sendable, Hashable {
    /// The URL without a slash at its end.
    let address: String
    /// The host, with its port if there is one, as readers send it.
    let host: String

    /// - Parameters:
    ///   - text: `host:port`, or a URL with a path or without.
    ///   - isEncrypted: Whether `host:port` is served with TLS. A proxy before it is named by its URL.
    /// - Throws: A usage error for any other text.
    init(_ text: String, isEncrypted: Bool) throws(CommandError) {
        let form =
            /(https?:\/\/)?((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._\-]+)(?::[0-9]{1,5})?)((?:\/[A-Za-z0-9._~%\-]+)*)\/?/
        guard let parts = text.wholeMatch(of: form)?.output else {
            throw .usage("--host must be HOST:PORT, or a URL such as https://agent.example.org.")
        }
        let scheme = parts.1.map { String($0) } ?? (isEncrypted ? "https://" : "http://")
        host = String(parts.2)
        address = scheme + String(parts.2) + String(parts.3)
    }

    /// Returns what readers at this address get instead of the feed, if it is not the feed.
    func warning(_ policy: HostPolicy) -> String? {
        guard !policy.allows(host) else { return nil }
        let name = host.split(separator: ":").first ?? ""
        return
            "The agent answers 403 to readers that name the host \(name); add it to http.allowed_hosts, and reload the agent."
    }
}

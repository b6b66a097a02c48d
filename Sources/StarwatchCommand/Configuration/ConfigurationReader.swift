import Starwatch
import StarwatchCore
import Yams

/// The reading of a file by ``ConfigurationTable``.
enum ConfigurationReader {
    /// The options of an empty file, with relative paths.
    static var defaults: AgentOptions {
        var options = AgentOptions()
        options.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        return options
    }

    /// Reads every setting of `root` over the defaults. The journal gets the problems.
    static func read(_ root: Node?, into journal: ConfigurationJournal) -> AgentOptions {
        var options = defaults
        options.storage.path = journal.files.path(options.storage.path)
        options.control.socket = journal.files.path(options.control.socket)
        let file = SettingsField("", in: "", line: nil, node: root, journal: journal)
        if root?.mapping != nil || file.isNull {
            ConfigurationTable.settings.readAll(&options, from: file)
            checkTogether(options, journal)
        } else {
            journal.report("must have settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
        }
        return options
    }

    /// Checks the settings of an agent for many accounts.
    ///
    /// - Parameter isKeyGiven: Whether there is a master key, or a problem with its file has been reported.
    private static func checkMany(
        _ options: AgentOptions,
        isKeyGiven: Bool,
        _ report: (_ path: String, _ message: String) -> Void
    ) {
        if options.initialIdentity != nil {
            report(
                "identity.did",
                "has no meaning with accounts: many; leave it out, and run 'starwatch accounts add'."
            )
        }
        if options.storage.owner == .host {
            report("storage.owner", "must be agent with accounts: many; the host's database has one active identity.")
        }
        if !isKeyGiven {
            report("accounts", "needs an encrypted database when it is many; set security.master_key_file.")
        }
        for poll in options.polls where !poll.planIDs.isEmpty {
            report("polls.\(poll.name).plan_ids", "has no meaning with accounts: many; give each account its stars.")
        }
        for (index, sink) in options.delivery.sinks.enumerated() {
            switch sink.kind {
            case .file, .feed:
                report("delivery.sinks[\(index)].kind", "would mix many accounts in one place; use webhook or command.")
            default: break
            }
        }
        if !options.digests.isEmpty {
            report("digests", "are not made for many accounts yet; leave them out with accounts: many.")
        }
        if options.canary != nil {
            report("canary", "needs the active identity, and accounts: many has none; leave it out.")
        }
        if [.didKey, .sharedSecret].contains(options.auth.kind), !options.auth.storedKeys {
            report(
                "auth.kind",
                "has one key for all accounts; use none, token_pool or command, or set auth.stored_keys."
            )
        }
    }

    /// Checks between settings of several sections.
    private static func checkTogether(_ options: AgentOptions, _ journal: ConfigurationJournal) {
        func report(_ path: String, _ message: String) {
            journal.report(message, at: path, line: journal.line(of: path))
        }
        if options.auth.kind == .didKey, let did = options.initialIdentity, !did.isEthereumAddress {
            let message = "is none that auth.kind did_key can sign for; write did:ethr:0x…, or change auth.kind."
            report("identity.did", message)
        }
        let database = options.storage.path
        if options.control.socket == database {
            report("control.socket", "is also storage.path; choose another path for one of the two.")
        }
        if options.accounts == .many {
            let hasKeyProblem = journal.problems.contains { $0.path == "security.master_key_file" }
            checkMany(options, isKeyGiven: options.security.isEncrypted || hasKeyProblem, report)
        }
        for (index, sink) in options.delivery.sinks.enumerated() {
            guard case .file(let path) = sink.kind, ["", "-wal", "-shm"].map({ database + $0 }).contains(path) else {
                continue
            }
            report("delivery.sinks[\(index)].path", "is the file of the database; choose another path.")
        }
    }
}

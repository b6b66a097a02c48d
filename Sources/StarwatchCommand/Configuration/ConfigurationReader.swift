import Starwatch
import StarwatchCore
import Yams

/// The reading of a file by ``ConfigurationTable``.
extension ConfigurationTable {
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
            journal.servesMany = file.field("accounts").text == AccountMode.many.rawValue
            ConfigurationTable.settings.readAll(&options, from: file)
            completeForLists(&options, file)
            checkTogether(options, journal)
        } else {
            journal.report("must have settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
        }
        return options
    }

    /// Gives an agent of lists alone what it needs and its file need not name: a server, whose time does not count, and an
    /// identity.
    private static func completeForLists(_ options: inout AgentOptions, _ file: SettingsField) {
        guard options.pollsListsAlone, options.accounts == .one, let origin = options.polls.first?.json?.origin else {
            return
        }
        if file.field("server").section?.has("url") != true {
            guard options.auth.kind == .none else {
                let message = "is for an Endorser server, and all polls are lists; remove auth, or set server.url."
                return file.field("auth").report(message, at: "kind")
            }
            options.server.url = origin
        }
        if file.field("clock").section?.has("source") != true { options.clock.source = .system }
        options.initialIdentity = options.initialIdentity ?? DID("did:starwatch:local")
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
        let hasKeyProblem = journal.problems.contains { $0.path == "security.master_key_file" }
        for problem in options.problemsOfMany where problem.path != "accounts" || !hasKeyProblem {
            report(problem.path, problem.message)
        }
        for conflict in NamedFiles(options, reserved: journal.files.loader.reserved).conflicts {
            report(conflict.setting, conflict.message)
        }
    }
}

/// The files of a configuration, each of which has one purpose. What the agent writes must not replace another of them.
struct NamedFiles {
    /// The purpose by path.
    private var purposes: [String: String] = [:]
    /// The settings that name a file of another purpose.
    private(set) var conflicts: [(setting: String, message: String)] = []

    /// - Parameter reserved: The configuration's own file, and others that stand beside it.
    init(_ options: AgentOptions, reserved: [String]) {
        for file in reserved { purposes[file] = "the file of the configuration or of a secret" }
        for file in options.secretFiles + [options.security.masterKeyFile].compactMap(\.self) {
            purposes[file] = "the file of a secret"
        }
        let database = options.storage.path
        take(database, by: "storage.path", for: "the file of the database")
        for file in ["-wal", "-shm", ".lock"].map({ database + $0 }) + [BlackBox.path(besides: database)] {
            purposes[file] = "a file of the database"
        }
        take(options.control.socket, by: "control.socket", for: "the control socket")
        for (index, sink) in options.delivery.sinks.enumerated() {
            for (key, value) in sink.values(of: .output) {
                take(value.text ?? "", by: "delivery.sinks[\(index)].\(key)", for: "the file of another sink")
            }
        }
    }

    private mutating func take(_ path: String, by setting: String, for purpose: String) {
        if let other = purposes[path] {
            conflicts.append((setting, "is \(other); choose another path."))
        } else {
            purposes[path] = purpose
        }
    }
}

extension AgentOptions {
    /// The files of secrets that the configuration names.
    var secretFiles: [String] { secretSettings.map(\.file) }

    /// The same, each with its setting.
    var secretSettings: [(setting: String, file: String)] {
        var settings: [(String, String?)] = [
            ("server.proxy_login_file", server.proxyLoginFile), ("auth.secret_file", auth.secretFile),
            ("auth.key_file", auth.keyFile),
            ("auth.tokens_file", auth.tokensFile),
            ("control.token_file", control.tokenFile), ("control.feed_token_file", control.feedTokenFile),
        ]
        settings += polls.map { ("polls.\($0.name).headers_file", $0.json?.headersFile) }
        for (index, sink) in delivery.sinks.enumerated() {
            settings += sink.values(of: .secret).map { ("delivery.sinks[\(index)].\($0)", $1.path) }
        }
        return settings.compactMap { setting, file in file.map { (setting, $0) } }
    }
}

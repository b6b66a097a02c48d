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
            journal.servesMany = file.field("accounts").text == AccountMode.many.rawValue
            ConfigurationTable.settings.readAll(&options, from: file)
            checkTogether(options, journal)
        } else {
            journal.report("must have settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
        }
        return options
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
        for conflict in NamedFiles(options, reserved: journal.files.reserved).conflicts {
            report(conflict.setting, conflict.message)
        }
    }
}

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
        } else {
            journal.report("must have settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
        }
        return options
    }
}

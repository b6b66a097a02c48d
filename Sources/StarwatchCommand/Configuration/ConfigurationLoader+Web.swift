import Foundation
import Starwatch
import StarwatchHTTP
import Yams

extension ConfigurationLoader {
    /// Reads a web configuration file. Relative paths in it start at its folder.
    func loadWebConfiguration(file: String) throws(ConfigurationFailure) -> WebConfiguration {
        let (text, directory) = try contents(of: file, ifMissing: "create it or correct the path.")
        return try loadWebConfiguration(text: text, file: file, directory: directory)
    }

    /// - Parameters:
    ///   - file: The name for problems.
    ///   - directory: The directory where relative paths start.
    func loadWebConfiguration(
        text: String,
        file: String,
        directory: String
    ) throws(ConfigurationFailure) -> WebConfiguration {
        let root = try document(text, of: file)
        let journal = ConfigurationJournal(files: files(in: directory), isWeb: true)
        let field = SettingsField("", in: "", line: nil, node: root, journal: journal)
        var configuration = WebConfiguration()
        if root?.mapping != nil || field.isNull {
            WebConfiguration.settings.readAll(&configuration, from: field)
        } else {
            journal.report("must have settings as \"section:\" with \"key: value\" lines below.", at: "", line: 1)
        }
        if journal.problems.isEmpty, let problem = configuration.tls?.problem {
            field.field("tls_server_config").report(problem.message, at: problem.key)
        }
        guard journal.problems.isEmpty else {
            throw ConfigurationFailure(file: file, problems: journal.sortedProblems)
        }
        return configuration
    }

    /// The reader for the agent's servers.
    var webConfigurations: WebConfiguration.Source {
        { [self] path throws(AgentError) in
            do throws(ConfigurationFailure) {
                return try loadWebConfiguration(file: path)
            } catch {
                throw AgentError(error)
            }
        }
    }
}

extension AgentError {
    /// The first problem of a file and the number of others.
    init(_ failure: ConfigurationFailure) {
        let others = failure.problems.count - 1
        let more = others > 0 ? " There is more to correct (\(others)): see 'starwatch check'." : ""
        self.init(.configuration, (failure.lines.first ?? "") + more)
    }
}

extension Rule<String> {
    /// A web configuration file. Its problems have the lines of that file.
    static func webConfiguration(_ port: ServedPort) -> Rule {
        // The exporters accept an empty one, which is one without TLS and users.
        file(canBeEmpty: true).map(to: text().print) { path, field in
            let files = field.journal.files
            // A command without secrets need not be able to read the file.
            var loader = files.loader
            guard loader.checksSecrets else { return path }
            loader.workingDirectory = files.directory
            do throws(ConfigurationFailure) {
                let configuration = try loader.loadWebConfiguration(file: path)
                if let problem = configuration.filesProblem {
                    throw ConfigurationFailure(file: path, problems: [.init(line: nil, path: "", message: problem)])
                }
                field.journal.note(configuration, of: port)
                return path
            } catch {
                for problem in error.problems { field.journal.report(problem, of: path, at: field.line) }
                return nil
            }
        }
    }
}

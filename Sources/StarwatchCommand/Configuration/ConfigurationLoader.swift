import Foundation
import Glibc
import Starwatch
import StarwatchCore
import Yams

/// The loader of a configuration file. It is strict: unknown settings are errors, and it reports every problem.
struct ConfigurationLoader: Sendable {
    /// By default those of the process.
    var environment = ProcessInfo.processInfo.environment
    var workingDirectory = FileManager.default.currentDirectoryPath
    /// `false` for commands that need no secret. A service can have its secrets as credentials that nobody else reads.
    var checksSecrets = true
    /// The command that runs, if it makes the file of a secret, which can then be missing.
    var maker: String?
    /// The file of a master key that the agent already has. It is not looked at, because only root can read it.
    var knownKeyFile: String?
    /// The running user.
    var user: UInt32 = geteuid()
    /// The absolute paths of files that no setting may make the agent write, such as the configuration's own.
    var reserved: [String] = []

    // MARK: Finding

    /// The file to read: `named`, `$STARWATCH_CONFIG`, `./starwatch.yaml` or `/etc/starwatch/starwatch.yaml`.
    ///
    /// A `./starwatch.yaml` of another user is skipped, because it could name programs to run.
    ///
    /// - Returns: `nil` if none is named and neither of the usual files exists.
    func find(_ named: String?, systemFile: String = "/etc/starwatch/starwatch.yaml") -> String? {
        if let named { return named }
        if let variable = environment["STARWATCH_CONFIG"], !variable.isEmpty { return variable }
        if FileAccess(path: absolute("starwatch.yaml"))?.belongs(to: user) ?? false { return "starwatch.yaml" }
        return FileManager.default.fileExists(atPath: absolute(systemFile)) ? systemFile : nil
    }

    /// The absolute path of a file, without links.
    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : workingDirectory + "/" + path
    }

    // MARK: Reading

    func load(file: String) throws(ConfigurationFailure) -> LoadedConfiguration {
        let advice = "create one with 'starwatch config default > starwatch.yaml'."
        let (text, directory) = try contents(of: file, ifMissing: advice)
        return try load(text: text, file: file, directory: directory)
    }

    /// The text of a file that no other user can change, and its folder.
    ///
    /// - Parameter advice: What to do if there is no such file.
    func contents(
        of file: String,
        ifMissing advice: String
    ) throws(ConfigurationFailure) -> (text: String, directory: String) {
        let path = absolute(file)
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw failure(file, "there is no such file; \(advice)")
        }
        if isDirectory.boolValue { throw failure(file, "is a folder; name the file in it.") }
        if let problem = accessProblem(path) { throw failure(file, problem) }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw failure(file, "cannot be read by this user; \(FileResolver.readAdvice).")
        }
        guard data.count <= Self.maximumBytes else {
            throw failure(file, "is larger than 1MiB; a configuration is a few kilobytes.")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw failure(file, "is not UTF-8; save it in that encoding.")
        }
        let directory = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
        return (text, directory)
    }

    /// Returns how another user can change the file, which can name programs to run; `nil` if only root and the
    /// running user can.
    private func accessProblem(_ path: String) -> String? {
        guard let problem = FileTrust(users: [user]).problem(of: path) else { return nil }
        return problem.sentence(takeOver: takeOver(problem.path))
    }

    /// The command that makes the file one of root or of the running user, and keeps it readable for the service.
    private func takeOver(_ path: String) -> String {
        guard user == 0 else { return "run 'sudo chown \(user) \(path)'" }
        guard let service = ServiceUser.find(), FileAccess(path: path)?.owner == UInt32(service.id) else {
            return "run 'chown root \(path)'"
        }
        return "run 'chown root:starwatch \(path) && chmod 640 \(path)'"
    }

    /// The root of a file's text; `nil` for an empty one.
    func document(_ text: String, of file: String) throws(ConfigurationFailure) -> Node? {
        do throws(ConfigurationProblem) { return try Self.parse(text) } catch {
            throw ConfigurationFailure(file: file, problems: [error])
        }
    }

    /// - Parameters:
    ///   - file: The name for problems.
    ///   - directory: The directory where relative paths start.
    func load(text: String, file: String, directory: String) throws(ConfigurationFailure) -> LoadedConfiguration {
        let root = try document(text, of: file)
        var files = files(in: directory)
        files.loader.reserved.append(files.path(URL(fileURLWithPath: file).lastPathComponent))
        let journal = ConfigurationJournal(files: files)
        let options = ConfigurationTable.read(root, into: journal)
        let loaded = LoadedConfiguration(
            options: options,
            origins: journal.origins,
            file: file,
            webConfigurations: journal.webConfigurations
        )
        guard journal.problems.isEmpty else {
            throw ConfigurationFailure(file: file, problems: journal.sortedProblems, partial: loaded)
        }
        return loaded
    }

    func files(in directory: String) -> FileResolver { FileResolver(directory: directory, loader: self) }

    private func failure(_ file: String, _ message: String) -> ConfigurationFailure {
        ConfigurationFailure(file: file, problems: [ConfigurationProblem(line: nil, path: "", message: message)])
    }
}

/// The YAML parser, which turns each error into a problem with its line.
extension ConfigurationLoader {
    /// The size of the largest accepted file; a configuration is a few kilobytes.
    private static let maximumBytes = 1_048_576

    /// The root node; `nil` for a document without one.
    static func parse(_ text: String) throws(ConfigurationProblem) -> Node? {
        do {
            // Only the texts of scalars count, also as keys. Their types would need seven regular expressions: 2 ms of a start.
            return try Yams.compose(yaml: text, .basic)
        } catch let error as YamlError {
            throw problem(error, text: text)
        } catch {
            throw ConfigurationProblem(line: nil, path: "", message: "is not valid YAML; correct its syntax.")
        }
    }

    private static func problem(_ error: YamlError, text: String) -> ConfigurationProblem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let around = context.map { " (\($0.text.trimmingSpaces))" } ?? ""
            if let mistake = YAMLMistake.find(in: text, at: mark.line, error: problem + around) {
                return ConfigurationProblem(line: mistake.line, path: "", message: mistake.message)
            }
            return ConfigurationProblem(
                line: mark.line,
                path: "",
                message: "is not valid YAML: \(problem.trimmingSpaces)\(around)."
            )
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.prefix($0).count { $0.isNewline } + 1 }
            return ConfigurationProblem(line: line, path: "", message: "is not valid YAML: \(problem.trimmingSpaces).")
        case .duplicatedKeysInMapping(let keys, let context):
            let first = context.mark
            let key = keys.first ?? ""
            let second = lineOfRepeat(of: key, after: first, in: text)
            return ConfigurationProblem(
                line: second ?? first.line,
                path: key,
                message: "is given twice, first on line \(first.line); remove one."
            )
        default:
            return ConfigurationProblem(line: nil, path: "", message: "is not valid YAML; correct its syntax.")
        }
    }

    /// The line of a key's repetition. The parser only gives the place of the first one.
    private static func lineOfRepeat(of key: String, after mark: Mark, in text: String) -> Int? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let indent = String(repeating: " ", count: max(0, mark.column - 1))
        let starts = ["\(indent)\(key):", "\(indent)\"\(key)\":", "\(indent)'\(key)':"]
        return lines.indices.dropFirst(mark.line)
            .first { index in starts.contains { lines[index].hasPrefix($0) } }
            .map { $0 + 1 }
    }
}

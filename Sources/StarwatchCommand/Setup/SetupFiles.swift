import Foundation
import Glibc
import Starwatch
import StarwatchCore

/// The files of a new installation: the configuration, and the copies of the secrets.
struct SetupFiles: Sendable, Hashable {
    struct File: Sendable, Hashable {
        var name: String
        var content: Data
        var isSecret: Bool
    }

    static let configurationName = "starwatch.yaml"

    /// The configuration comes last, so that it never names a file that is not there.
    var files: [File]
    /// The originals of the secrets in words, by the names of the copies.
    private(set) var sources: [String: String] = [:]
    /// The originals of secrets that other users can read.
    private(set) var openSources: [String] = []

    /// - Parameters:
    ///   - isPackaged: Whether systemd and the package create the folders of the database and the socket.
    ///   - storage: The database and its encryption; `nil` for the default, as a trial needs it.
    /// - Throws: ``CommandError`` if a secret cannot be read.
    init(_ answers: SetupAnswers, isPackaged: Bool, storage: SetupStorage? = nil) throws(CommandError) {
        files = []
        if let copy = answers.token.copy { try add(copy.source, as: copy.name) }
        if let list = answers.list, let file = list.headersFile { try add(file, as: list.headersName) }
        if let answer = answers.sinkSecret, let secret = answers.sink.secret {
            switch answer {
            case .file(let source): try add(source, as: secret.name)
            case .typed(let text):
                sources[secret.name] = "the answer"
                files.append(File(name: secret.name, content: Data((text + "\n").utf8), isSecret: true))
            }
        }
        for file in answers.sink.secretFiles {
            files.append(File(name: file.name, content: Data(file.content.utf8), isSecret: true))
        }
        let text = Self.text(answers, isPackaged: isPackaged, storage: storage)
        files.append(File(name: Self.configurationName, content: Data(text.utf8), isSecret: false))
    }

    private mutating func add(_ source: String, as name: String) throws(CommandError) {
        guard let content = FileManager.default.contents(atPath: source), !content.isEmpty else {
            throw .usage("The file for \(name) cannot be read, or is empty; correct its path or mode.")
        }
        sources[name] = source
        if let access = FileAccess(path: source), access.mode & 0o077 != 0 { openSources.append(source) }
        files.append(File(name: name, content: content, isSecret: true))
    }

    static func text(_ answers: SetupAnswers, isPackaged: Bool, storage: SetupStorage?) -> String {
        var lines = [
            "# Written by 'starwatch init'. Settings that are not here have their default; 'starwatch config default'",
            "# prints all of them. Check this file with 'starwatch check'.", "",
        ]
        lines += answers.list.map { ["polls:", "  \($0.name):"] + $0.lines.map { "    " + $0 } } ?? endorser(answers)
        lines += [
            "delivery:", "  sinks:", "    - name: \(answers.sink.name)", "      kind: \(answers.sink.kind.type.kind)",
        ]
        var settings = answers.sink.settings
        if answers.sinkSecret != nil, let secret = answers.sink.secret {
            settings += [answers.sink.user, (secret.setting, secret.name)].compactMap(\.self)
        }
        lines += settings.map { "      \($0.key): \($0.value)" }
        let path = storage?.setting ?? (isPackaged ? ServiceUser.stateFolder + "/starwatch.db" : nil)
        if let path { lines += ["storage:", "  path: \(ConfigurationPrinter.scalar(path))"] }
        if let line = storage?.keyLine { lines += ["security:", "  \(line)"] }
        if isPackaged { lines += ["control:", "  socket: /run/starwatch/starwatch.sock"] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The lines of an Endorser server and its polls.
    private static func endorser(_ answers: SetupAnswers) -> [String] {
        var lines = ["server:", "  url: \(ConfigurationPrinter.scalar(answers.server))"]
        if let dialect = answers.dialect { lines.append("  dialect: \(dialect)") }
        lines += ["identity:", "  did: \(answers.did.map { ConfigurationPrinter.scalar($0.rawValue) } ?? "null")"]
        if let copy = answers.token.copy {
            lines += ["auth:", "  kind: \(copy.kind)", "  \(copy.setting): \(copy.name)"]
        }
        lines += ["polls:", "  starred_projects:", "    kind: starred_projects", "    schedule: \"*/15 * * * *\""]
        if answers.stars.isEmpty {
            lines.append("    plan_ids: []")
        } else {
            lines.append("    plan_ids:")
            lines += answers.stars.map { "      - \(ConfigurationPrinter.scalar($0))" }
        }
        if answers.announcesLastWeek {
            lines.append("    bootstrap: \(PollOptions.Bootstrap.lastWeek.rawValue)  # the first poll announces these")
        }
        for kind in answers.polls.map(\.rawValue) {
            lines += ["  \(kind):", "    kind: \(kind)", "    schedule: \"*/15 * * * *\""]
        }
        return lines
    }

    /// Writes the files into a folder. An existing file with other content is renamed to `NAME.old`.
    ///
    /// Secrets get mode 0600 and belong to the agent's user. The configuration can also be read by its group, because
    /// root owns it.
    ///
    /// - Parameter user: The agent's user, if it is another one.
    /// - Returns: One line per file.
    /// - Throws: ``CommandError`` if a file cannot be written.
    func write(to folder: String, for user: ServiceUser?) throws(CommandError) -> [String] {
        var lines: [String] = []
        for file in files {
            let path = folder + "/" + file.name
            if let old = try keep(path, unless: file.content) { lines.append("kept     \(old)") }
            let mode = file.isSecret || user == nil ? 0o600 : 0o640
            var attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
            if let user {
                attributes[.ownerAccountID] = file.isSecret ? user.id : 0
                attributes[.groupOwnerAccountID] = user.group
            }
            do {
                // The caller's umask closes the file from its first byte on.
                try file.content.write(to: URL(fileURLWithPath: path), options: .atomic)
                try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
            } catch {
                throw .failed("\(path) cannot be written; check the folder's owner and free space.")
            }
            lines.append("written  \(path) (mode 0\(String(mode, radix: 8)))")
        }
        lines += openSources.map {
            "note     other users can read \($0), which was copied; delete it, or run chmod 600 on it"
        }
        return lines
    }

    /// Checks that the files can be written into a folder.
    func check(_ folder: String) throws(CommandError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw .failed("There is no folder \(folder); create it.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw .failed("This user cannot write to \(folder); name another one with --folder.")
        }
        // 'run' would refuse the configuration.
        if let problem = FileTrust(users: [geteuid()]).problem(ofFolder: folder) {
            let command = problem.part == .link ? "'chown -h'" : "'chmod go-w' or 'chown'"
            let advice = "run \(command) on \(problem.path), or name another folder with --folder."
            throw .failed("Other users could replace the configuration in \(folder); \(advice)")
        }
        for file in files where Self.kind(of: folder + "/" + file.name) == .typeDirectory {
            throw .failed("\(folder)/\(file.name) is a folder; move it away.")
        }
    }

    /// The kind of a file, also of a link itself; `nil` if there is none.
    private static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// Renames what is there, unless it is known to have the same content.
    private func keep(_ path: String, unless content: Data) throws(CommandError) -> String? {
        guard let kind = Self.kind(of: path) else { return nil }
        if kind == .typeRegular, FileManager.default.contents(atPath: path) == content { return nil }
        let names = [path + ".old"] + (2..<100).map { "\(path).old\($0)" }
        guard let old = names.first(where: { !FileManager.default.fileExists(atPath: $0) }),
            (try? FileManager.default.moveItem(atPath: path, toPath: old)) != nil
        else { throw .failed("\(path) cannot be kept as \(path).old; move it away.") }
        // The former file can be a key that others could read.
        if kind == .typeRegular {
            try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old)
        }
        return old
    }
}

import Foundation
import Glibc
import Starwatch
import StarwatchCore
import Synchronization

/// The user whose files an agent uses. An agent of root would leave a database that the service cannot open.
enum AgentUser {
    /// A step that root has to take before it opens a database.
    enum Change: Sendable, Hashable {
        case stay
        /// The user owns the folder.
        case become(UInt32)
        /// The database is root's already, in the folder of this user.
        case refuse(UInt32)
    }

    private static let options = Mutex<AgentOptions?>(nil)
    /// The options with which root became another user, who cannot always read them again; `nil` if it did not.
    static var became: AgentOptions? { options.withLock(\.self) }

    /// Decides by the owners of a database and its folder.
    static func change(caller: UInt32, database: FileAccess?, folder: FileAccess?) -> Change {
        guard caller == 0, let folder, folder.owner != 0 else { return .stay }
        return database?.owner == 0 ? .refuse(folder.owner) : .become(folder.owner)
    }

    /// Makes root the user that owns the folder of the database, for the rest of the process.
    ///
    /// - Returns: The options, with the master key if only root can read it.
    /// - Throws: ``CommandError`` if the database is root's, or the user cannot be changed. ``AgentError`` if the file of the
    ///   master key has none.
    @discardableResult
    static func become(for options: AgentOptions) async throws -> AgentOptions {
        let path = options.storage.path
        switch change(caller: geteuid(), database: FileAccess(path: path), folder: FileAccess(folderOf: path)) {
        case .stay: return options
        case .refuse(let owner):
            throw CommandError.failed(
                "\(path) belongs to root, so the agent of user \(owner) cannot open it; run 'chown \(owner)' on it."
            )
        case .become(let owner):
            var options = options
            if options.security.masterKeyFile != nil {
                options.security.masterKey = try await DatabaseEncryption.key(of: options.security)
            }
            let entry = getpwuid(owner)
            let group = entry?.pointee.pw_gid ?? owner
            let hasGroups = entry.map { initgroups($0.pointee.pw_name, group) == 0 } ?? (setgroups(0, nil) == 0)
            guard hasGroups, setgid(group) == 0, setuid(owner) == 0, geteuid() == owner else {
                throw CommandError.failed(
                    "Root cannot become user \(owner), who owns the folder of \(path); run this as that user."
                )
            }
            StandardError.sayOnce("starwatch: root works as user \(owner) here, who owns the folder of \(path).")
            Self.options.withLock { $0 = options }
            return options
        }
    }

    /// The agent's user, if root asks: who owns the folder of the database, or the user of the package's service. `nil` for the
    /// user who asks.
    static func other(_ options: AgentOptions, configuration: String) -> ServiceUser? {
        guard geteuid() == 0 else { return nil }
        guard let owner = FileAccess(folderOf: options.storage.path)?.owner, owner != 0 else {
            return ServiceUser.isNeeded(for: configuration) ? ServiceUser.find() : nil
        }
        return ServiceUser(id: Int(owner), group: Int(getpwuid(owner)?.pointee.pw_gid ?? owner))
    }

    /// The agent's user, if root has to make a file for them: only root can write into the folder, as into the package's.
    ///
    /// `nil` for a folder that others can write to, where a link could stand in the place of the file.
    ///
    /// - Parameter agent: The agent's user if root asks, as ``other(_:configuration:)`` has it.
    static func owner(ofFileIn folder: FileAccess?, agent: ServiceUser?) -> ServiceUser? {
        guard let agent, let folder, folder.fileProblem(for: 0) == nil else { return nil }
        return agent
    }

    /// Returns whether a user can use a file in some way, such as `W_OK`. Only root can ask for another user.
    static func can(_ mode: Int32, _ path: String, as user: ServiceUser?) -> Bool {
        guard let user, geteuid() == 0 else { return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }
        let group = getegid()
        guard setegid(gid_t(user.group)) == 0 else { return false }
        defer { setegid(group) }
        guard seteuid(uid_t(user.id)) == 0 else { return false }
        defer { seteuid(0) }
        return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
    }

    /// Returns why a user cannot use a sink's file or program; `nil` if they can, and for other sinks.
    static func problem(of sink: SinkOptions, as user: ServiceUser?) -> String? {
        if let path = sink.values(of: .output).first?.value.text { return writeProblem(path, as: user) }
        guard let program = sink.values(of: .program).first?.value.list?.first, program.hasPrefix("/"),
            FileManager.default.fileExists(atPath: program), !can(X_OK, program, as: user)
        else { return nil }
        return "\(user == nil ? "This user" : "The agent's user") cannot run \(program); run chmod +x on it."
    }

    /// Returns why a user cannot append to a file, as a sentence; `nil` if they can. The file need not exist.
    static func writeProblem(_ path: String, as user: ServiceUser?) -> String? {
        let whose = user == nil ? "This user" : "The agent's user"
        if FileManager.default.fileExists(atPath: path) {
            return can(W_OK, path, as: user) ? nil : "\(whose) cannot write to \(path); run chown on it."
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            return "There is no folder \(folder); create it for the agent's user."
        }
        return can(W_OK | X_OK, folder, as: user) ? nil : "\(whose) cannot write to \(folder); name another folder."
    }
}

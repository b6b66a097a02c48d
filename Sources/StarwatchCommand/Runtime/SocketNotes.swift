import Foundation
import Glibc
import Starwatch
import StarwatchCore

/// The notes that running agents leave about their control sockets, for commands that cannot read the configuration.
///
/// A note is a file in a runtime folder that no other user can write to. Its name is a hash of the configuration's path;
/// its lines are that path, the socket's and the database's.
struct SocketNotes: Sendable {
    /// The control socket, empty if it is not known, and the database, `nil` in the note of an earlier version.
    typealias Note = (socket: String, database: String?)

    /// The folder of the package's service, which only root can create. Root trusts its owner.
    private static let serviceFolder = "/run/starwatch"

    var environment = ProcessInfo.processInfo.environment
    /// The running user.
    var user: UInt32 = geteuid()
    /// The folder for users without a runtime folder.
    var temporaryFolder = "/tmp"

    /// The folders for notes, the best one first. An agent uses the first one that it can write to.
    private var folders: [String] {
        var folders = (environment["RUNTIME_DIRECTORY"] ?? "").split(separator: ":").prefix(1).map(String.init)
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") { folders.append(folder + "/starwatch") }
        return folders + ["/run/user/\(user)/starwatch", "\(temporaryFolder)/starwatch-\(user)"]
    }

    private static func name(of configuration: String) -> String {
        String(configuration.utf8.stableHash, radix: 16) + ".socket"
    }

    private static func text(_ configuration: String, _ note: Note) -> String {
        ([configuration, note.socket] + (note.database.map { [$0] } ?? [])).map { $0 + "\n" }.joined()
    }

    /// The note of the agent that runs with a configuration file, or ran with it last and was killed; `nil` if there is none.
    ///
    /// - Parameter configuration: The absolute path.
    func note(of configuration: String) -> Note? {
        for folder in folders + [Self.serviceFolder] {
            guard let directory = open(folder) else { continue }
            defer { close(directory) }
            let found = note(Self.name(of: configuration), in: directory)
            if let found, found.configuration == configuration { return found.note }
        }
        return nil
    }

    /// The note of an agent that has a database open, or had it last and was killed; `nil` if there is none.
    ///
    /// - Parameter database: The absolute path.
    func note(ofDatabase database: String) -> Note? {
        for folder in folders + [Self.serviceFolder] {
            guard let directory = open(folder) else { continue }
            defer { close(directory) }
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where name.hasSuffix(".socket") {
                if let note = note(name, in: directory)?.note, note.database == database { return note }
            }
        }
        return nil
    }

    private func note(_ name: String, in directory: Int32) -> (configuration: String, note: Note)? {
        guard let text = read(name, in: directory) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard (3...4).contains(lines.count), lines[1].hasPrefix("/") else { return nil }
        let database = lines[2].hasPrefix("/") ? lines[2] : nil
        return (lines[0], (lines[1], database))
    }

    /// Notes the socket and the database of an agent. Without a folder for it, only commands with a broken configuration miss the note.
    ///
    /// - Parameters:
    ///   - socket: The absolute path.
    ///   - database: The absolute path.
    ///   - configuration: The absolute path.
    func note(_ socket: String, database: String, of configuration: String) {
        let name = Self.name(of: configuration)
        for folder in folders {
            mkdir(folder, 0o700)
            guard let directory = open(folder) else { continue }
            defer { close(directory) }
            removeOutdated(in: directory, folder)
            if write(Self.text(configuration, (socket, database)), to: name, in: directory) {
                return
            }
        }
    }

    /// Removes the note of an agent that ends.
    func remove(_ configuration: String) {
        for folder in folders {
            guard let directory = open(folder) else { continue }
            unlinkat(directory, Self.name(of: configuration), 0)
            close(directory)
        }
    }

    /// Opens a folder that only root, the user and, for root, the service can write to.
    private func open(_ folder: String) -> Int32? {
        let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        var status = stat()
        if fstat(directory, &status) == 0 {
            let access = FileAccess(owner: status.st_uid, mode: status.st_mode)
            let isService = user == 0 && folder == Self.serviceFolder
            if access.mode & 0o022 == 0, isService || access.belongs(to: user) { return directory }
        }
        close(directory)
        return nil
    }

    private func read(_ name: String, in directory: Int32) -> String? {
        // O_NONBLOCK: opening a pipe would block the caller.
        let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count > 0 ? String(validating: bytes.prefix(count), as: UTF8.self) : nil
    }

    private func write(_ text: String, to name: String, in directory: Int32) -> Bool {
        let draft = name + ".new"
        unlinkat(directory, draft, 0)
        let file = openat(directory, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        if isWritten, renameat(directory, draft, directory, name) == 0 { return true }
        unlinkat(directory, draft, 0)
        return false
    }

    /// Removes the notes of agents that were killed and whose configuration is gone.
    private func removeOutdated(in directory: Int32, _ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".socket")
        {
            guard let text = read(name, in: directory), let path = text.split(separator: "\n").first else { continue }
            if access(String(path), F_OK) != 0, errno == ENOENT { unlinkat(directory, name, 0) }
        }
    }
}

import Foundation
import Glibc
import Starwatch
import StarwatchCore
import Synchronization

/// The control socket's file.
///
/// The socket is bound in a new directory of mode 0700, gets mode 0600 there, and is then renamed to its path. Other
/// users can never connect: between `bind` and `chmod` the path would be open to them, and `umask` would affect
/// other threads. The rename also replaces the socket of a dead agent atomically.
///
/// A lock on the directory is held from the check for a live agent until the rename. Without it, two agents that start
/// together could each take the other's socket for a dead one.
package final class ControlSocket: Sendable {
    let path: String
    /// The path to bind.
    let stagingPath: String
    private let stagingDirectory: String
    private let directory: Int32
    private let isPublished = Mutex(false)

    private init(path: String, stagingDirectory: String, directory: Int32) {
        self.path = path
        self.stagingDirectory = stagingDirectory
        stagingPath = stagingDirectory + "/s"
        self.directory = directory
    }

    deinit { close(directory) }

    /// The problem of a path for a control socket; `nil` if it is valid.
    ///
    /// The system's limit of 107 bytes also applies to the staging path, which is 12 bytes longer than the directory.
    package static func problem(ofPath path: String) -> String? {
        let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        let staging = template(in: parent(of: path)).utf8.count + 2
        guard max(path.utf8.count, staging) > longest else { return nil }
        return "is too long: a socket's path may have \(longest) bytes, and its directory \(longest - 12); "
            + "choose a shorter one"
    }

    /// The template of the staging directory's name, for `mkdtemp`.
    private static func template(in parent: String) -> String {
        parent + (parent.hasSuffix("/") ? "" : "/") + ".swXXXXXX"
    }

    /// Checks that no agent listens at `path`, and creates a directory to bind in.
    ///
    /// - Throws: ``AgentError``; `CancellationError` if cancelled while another agent starts.
    static func claim(_ path: String) async throws -> ControlSocket {
        if let problem = Self.problem(ofPath: path) {
            throw AgentError.badSocket(path: path, detail: "its path \(problem)")
        }
        let parent = Self.parent(of: path)
        let template = Self.template(in: parent)
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            let detail = "its directory cannot be opened (\(ErrnoText.of(errno))); create it first"
            throw AgentError.badSocket(path: path, detail: detail)
        }
        if let detail = problem(ofDirectory: parent) {
            close(directory)
            throw AgentError.badSocket(path: path, detail: detail)
        }
        var isOurs = false
        defer { if !isOurs { close(directory) } }
        var tries = 0
        while flock(directory, LOCK_EX | LOCK_NB) != 0 {
            tries += 1
            guard tries < 100 else {
                throw AgentError.badSocket(path: path, detail: "another agent is starting beside it; try again")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        try checkNobodyListens(at: path)
        var name = Array(template.utf8CString)
        guard mkdtemp(&name) != nil else {
            let detail = "its directory cannot be written to (\(ErrnoText.of(errno)))"
            throw AgentError.badSocket(path: path, detail: detail)
        }
        isOurs = true
        let staging = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        return ControlSocket(path: path, stagingDirectory: staging, directory: directory)
    }

    /// Moves the bound socket to its path, and replaces a dead one.
    func publish() throws(AgentError) {
        guard chmod(stagingPath, S_IRUSR | S_IWUSR) == 0, rename(stagingPath, path) == 0 else {
            throw .badSocket(path: path, detail: ErrnoText.of(errno))
        }
        isPublished.withLock { $0 = true }
        rmdir(stagingDirectory)
        flock(directory, LOCK_UN)
    }

    /// Removes our files after the socket is closed. A socket that still accepts connections belongs to another agent.
    func release() {
        unlink(stagingPath)
        rmdir(stagingDirectory)
        // The owner of the lock is a starting agent, which will replace our dead socket.
        guard isPublished.withLock({ $0 }), flock(directory, LOCK_EX | LOCK_NB) == 0 else { return }
        if Self.connectError(to: path) == ECONNREFUSED { unlink(path) }
        flock(directory, LOCK_UN)
    }

    /// Returns why other users can replace a socket in this directory; `nil` if they cannot.
    private static func problem(ofDirectory path: String) -> String? {
        guard let access = FileAccess(path: path) else { return "its directory is gone; create it again" }
        return switch access.folderProblem(for: geteuid()) {
        case .owner: "its directory belongs to another user; run chown on it, or choose another one"
        case .mode, .foreignMode: "other users can write to its directory; run chmod go-w on it, or choose another one"
        case nil: nil
        }
    }

    private static func checkNobodyListens(at path: String) throws(AgentError) {
        // Not `lstat`, because NIO's C module has a structure of the same name.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return }
        guard attributes[.type] as? FileAttributeType == .typeSocket else {
            throw .badSocket(path: path, detail: "something else is there; remove it, or choose another control.socket")
        }
        switch connectError(to: path) {
        case ECONNREFUSED, ENOENT: return
        case 0, EAGAIN: throw .agentRunning(path: path)
        case let code: throw .badSocket(path: path, detail: ErrnoText.of(code))
        }
    }

    /// Whether a program listens at `path`, also one that is stopped.
    package static func hasListener(at path: String) -> Bool {
        problem(ofPath: path) == nil && [0, EAGAIN].contains(connectError(to: path))
    }

    /// Connects without waiting, and returns 0 or `errno`. EAGAIN means that a listener's queue is full.
    private static func connectError(to path: String) -> Int32 {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return code == 0 ? 0 : errno
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

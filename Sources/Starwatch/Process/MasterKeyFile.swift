import Glibc
import StarwatchStore

/// A master key that is in a file.
package struct MasterKeyFile: Sendable {
    /// The name of the key, which does not reveal it.
    package let id: String
    /// The key in base64.
    package let text: String

    private init(_ key: MasterKey) { (id, text) = (key.id, key.text) }

    /// Writes a new key to a new file of mode 0600 that survives a power loss.
    ///
    /// - Returns: `nil` if the file exists already; it is then unchanged.
    /// - Throws: ``AgentError`` with the system's reason.
    package static func create(_ path: String) throws(AgentError) -> MasterKeyFile? {
        let key = MasterKey()
        // Written beside it first, so that an interruption leaves no half a key under the name.
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", path) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        let bytes = Array(key.text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw failure("written", path)
        }
        guard link(draft, path) == 0 else {
            if errno == EEXIST { return nil }
            throw failure("written", path)
        }
        try syncFolder(of: path)
        return MasterKeyFile(key)
    }

    /// Reads the key in a file.
    ///
    /// - Throws: ``AgentError`` if others can read the file, or if it holds no key.
    package static func read(_ path: String) throws(AgentError) -> MasterKeyFile {
        MasterKeyFile(try MasterKeySource.read(path, nil))
    }

    /// The file in which a rotation keeps the new key until the database uses it.
    package static func pendingPath(of path: String) -> String { path + ".next" }

    /// Replaces a key file with another one, atomically.
    ///
    /// - Throws: ``AgentError`` with the system's reason.
    package static func replace(_ path: String, with new: String) throws(AgentError) {
        guard rename(new, path) == 0 else { throw failure("replaced", path) }
        try syncFolder(of: path)
    }

    private static func syncFolder(of path: String) throws(AgentError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("written", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("written", path) }
    }

    private static func failure(_ verb: String, _ path: String) -> AgentError {
        AgentError(.failed, "\(path) cannot be \(verb) (\(ErrnoText.of(errno))).")
    }
}

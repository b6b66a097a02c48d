import Glibc
import StarwatchCore
import StarwatchTransport

/// The writing of files that only their owner can read, such as key files.
package enum KeyFile {
    /// Writes a new file of mode 0600 that survives a power loss.
    ///
    /// - Parameter former: A file whose owner and mode the new one gets; `nil` for those of the caller.
    /// - Returns: `false` if the file exists already; it is then unchanged.
    package static func create(_ path: String, _ text: String, like former: String? = nil) throws(AgentError) -> Bool {
        // Without a name until it is complete, so that an interruption leaves no half a key and no copy.
        let descriptor = open(folder(of: path), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written", path) }
        defer { close(descriptor) }
        var status = stat()
        if let former, stat(former, &status) == 0 {
            guard fchown(descriptor, status.st_uid, status.st_gid) == 0, fchmod(descriptor, status.st_mode & 0o700) == 0
            else { throw failure("given to the owner of the former key", path) }
        }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw failure("written", path)
        }
        guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
            if errno == EEXIST { return false }
            throw failure("written", path)
        }
        try syncFolder(of: path)
        return true
    }

    /// Gives a file another name that no file has.
    ///
    /// - Returns: `false` if there is a file of that name.
    static func move(_ path: String, to new: String) throws(AgentError) -> Bool {
        guard link(path, new) == 0 else {
            if errno == EEXIST { return false }
            throw failure("written", new)
        }
        try syncFolder(of: new)
        unlink(path)
        try syncFolder(of: new)
        return true
    }

    /// Replaces a file with another one, atomically.
    static func replace(_ path: String, with new: String) throws(AgentError) {
        guard rename(new, path) == 0 else { throw failure("replaced", path) }
        try syncFolder(of: path)
    }

    static func delete(_ path: String) { unlink(path) }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// `O_TMPFILE`, whose definition Swift does not import.
    private static let O_TMPFILE: Int32 = 0o20_000_000 | O_DIRECTORY

    private static func syncFolder(of path: String) throws(AgentError) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("written", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("written", path) }
    }

    private static func failure(_ verb: String, _ path: String) -> AgentError {
        AgentError(.failed, "\(path) cannot be \(verb) (\(ErrnoText.of(errno))).")
    }
}

/// The file with the token in the private address of the feed, for a command.
package enum FeedTokenFile {
    private static let setting = "control.feed_token_file"

    /// Reads the token. Without a file, makes one.
    ///
    /// - Throws: ``AgentError`` if others can read or own the file, or with the system's reason.
    package static func token(_ path: String) throws(AgentError) -> String {
        _ = try KeyFile.create(path, newToken() + "\n")
        return String(decoding: try SecretFile(path: path, setting: setting, holding: .line).bytes(), as: UTF8.self)
    }

    /// Replaces the token, atomically. The hash of the former one is kept in a file beside it.
    ///
    /// - Throws: ``AgentError`` as ``token(_:)``.
    package static func rotate(_ path: String) throws(AgentError) -> String {
        if KeyFile.exists(path) {
            let hashes = [ContentHash.text(try token(path))] + formerHashes(of: path)
            try write(hashes.prefix(remembered).map { $0 + "\n" }.joined(), to: former(path), like: path)
        }
        try write(newToken() + "\n", to: path, like: path)
        return try token(path)
    }

    /// Whether the text is one of the last tokens that ``rotate(_:)`` has replaced.
    package static func isFormer(_ text: String, of path: String) -> Bool {
        formerHashes(of: path).contains(ContentHash.text(text))
    }

    /// The number of former tokens that are known.
    private static let remembered = 10

    private static func former(_ path: String) -> String { path + ".former" }

    private static func formerHashes(of path: String) -> [String] {
        guard let bytes = try? SecretFile(path: former(path), setting: setting, holding: .text).bytes() else {
            return []
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func write(_ text: String, to path: String, like owned: String) throws(AgentError) {
        let new = path + ".next"
        // Of a rotation that was interrupted.
        KeyFile.delete(new)
        _ = try KeyFile.create(new, text, like: owned)
        try KeyFile.replace(path, with: new)
    }

    /// 128 random bits, as digits that an address has unchanged.
    static func newToken() -> String { Hex.encode(RandomID.bytes(16)) }
}

/// A new signing key, a secret that is written to a file before an agent has it.
package struct SigningKeyFile: Sendable, CustomStringConvertible, CustomReflectable {
    /// The place for the secret.
    package let path: String
    /// The text of the file without its end of line: 64 hexadecimal digits.
    package let content: [UInt8]
    /// Whether an interrupted rotation had made the secret.
    package let isResumed: Bool

    /// The place of the secret until the database has it.
    private static func pending(_ path: String) -> String { path + ".next" }

    /// Writes a new random secret beside `path`, or reads the one of a rotation that was interrupted.
    ///
    /// - Throws: ``AgentError`` if `path` has another key, or with the system's reason.
    package init(to path: String) throws(AgentError) {
        let pending = Self.pending(path)
        let secret = Hex.encode((0..<32).map { _ in UInt8.random(in: 0...255) })
        if !KeyFile.exists(pending), KeyFile.exists(path) { throw Self.taken(path) }
        isResumed = try !KeyFile.create(pending, secret + "\n")
        content = isResumed ? try Self.read(pending) : Array(secret.utf8)
        self.path = path
        if KeyFile.exists(path), try Self.read(path) != content { throw Self.taken(path) }
    }

    /// Gives the file its name, after the database has the secret.
    package func finish() throws(AgentError) {
        let pending = Self.pending(path)
        if try !KeyFile.move(pending, to: path) {
            // An interrupted rotation had given it already.
            guard try Self.read(path) == content else { throw Self.taken(path) }
            KeyFile.delete(pending)
        }
    }

    /// Deletes a secret that the agent did not take.
    package func discard() { if !isResumed { KeyFile.delete(Self.pending(path)) } }

    private static func taken(_ path: String) -> AgentError {
        AgentError(.failed, "\(path) exists already, and a key is never replaced; name another file.")
    }

    /// The largest file.
    private static let limitBytes = 65_536

    /// Reads a key file that exists.
    ///
    /// - Throws: ``AgentError`` if others can read or own the file, or if it is empty or too large.
    package static func read(_ path: String) throws(AgentError) -> [UInt8] {
        try SecretFile(path: path, setting: "--file", holding: .keys, limitBytes: limitBytes).bytes()
    }

    package var description: String { "<signing key in \(path)>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

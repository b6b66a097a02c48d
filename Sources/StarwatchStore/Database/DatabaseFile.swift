import Glibc

/// The database file in the file system.
enum DatabaseFile {
    /// Creates the file with mode 0600, or checks that an existing one is private to its owner.
    ///
    /// SQLite's journal files inherit the mode.
    static func prepare(path: String) throws(StoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw StoreError.io(detail: SystemText.of(errno)) }
        var info = stat()
        guard stat(path, &info) == 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw StoreError.io(detail: "it is not a regular file") }
        guard info.st_mode & 0o077 == 0 else {
            throw StoreError.io(detail: "other users can read or write it: run chmod 600 on it")
        }
    }

    /// Throws if the file does not exist. SQLite would create it, which only the owner of the database can do.
    static func mustExist(path: String) throws(StoreError) {
        guard access(path, F_OK) != 0 else { return }
        throw errno == ENOENT ? StoreError.absent : StoreError.io(detail: SystemText.of(errno))
    }

    /// The device and the number of a file, which stay the same under another name.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64

        /// The file that a path names; `nil` if there is none.
        init?(path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            (device, inode) = (UInt64(info.st_dev), UInt64(info.st_ino))
        }

        /// Whether a path does not name the file any more.
        func isLost(from path: String) -> Bool { Identity(path: path) != self }
    }

    /// The size of a file in bytes; 0 if it does not exist.
    static func bytes(path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }

    /// The bytes that an unprivileged process can still write on the device of `path`, or of its folder if the file is gone;
    /// `nil` if unknown.
    static func freeBytes(path: String) -> Int? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 || statvfs(folder(of: path), &info) == 0 else { return nil }
        return Int(clamping: UInt64(info.f_bavail) * UInt64(info.f_frsize))
    }

    /// The folder of a file, with a slash at its end.
    static func folder(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
    }
}

/// The system's text for an `errno`. Unlike `strerror`, it is thread-safe.
package enum SystemText {
    package static func of(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }
}

/// The owner of the database's schema.
package enum StoreOwner: String, Sendable, CaseIterable, Codable {
    /// The agent creates and migrates the database.
    case agent
    /// A host application creates and migrates the database. The agent only checks the version.
    case host
}

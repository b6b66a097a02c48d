import Glibc

/// An exclusive lock on a separate file, held until ``release()``. The file also contains the note of the last owner.
///
/// The kernel releases it when the process ends, even after a crash.
final class FileLock {
    private var descriptor: Int32

    /// Creates the file with mode 0600 if it does not exist, and takes the lock without waiting.
    init(path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError.io(detail: "lock file: " + SystemText.of(errno)) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // All properties are initialised, so `deinit` closes the descriptor. It must not be closed here too.
            let code = errno
            if code == EWOULDBLOCK { throw StoreError.alreadyOpen }
            throw StoreError.io(detail: "lock file: " + SystemText.of(code))
        }
    }

    /// Returns the note in the file; `nil` if it cannot be read. See ``EndMark``.
    func note() -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Replaces the note, and returns when it is on the disk.
    func write(note: String) throws(StoreError) {
        guard descriptor >= 0, note != self.note() else { return }
        let bytes = Array(note.utf8)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
            fsync(descriptor) == 0
        else {
            throw StoreError.io(detail: "lock file: " + SystemText.of(errno))
        }
    }

    /// Releases the lock, so that another agent can open the database.
    func release() {
        guard descriptor >= 0 else { return }
        // A child process between fork and exec shares the lock. Closing the descriptor would leave it locked for that
        // moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
        descriptor = -1
    }

    deinit { release() }
}

/// The note that an agent leaves in its lock file about the state of the database.
///
/// The note is empty while an agent has the database open, and stays empty after a crash or a power loss. It does not match a
/// restored copy, whose time of the last change differs.
enum EndMark {
    /// The pages are damaged.
    static let damaged = "damaged\n"

    /// The note of a closed database all of whose pages are sound; `nil` if its write-ahead log is not empty.
    static func sound(path: String) -> String? {
        var info = stat()
        guard DatabaseFile.bytes(path: path + "-wal") == 0, stat(path, &info) == 0 else { return nil }
        let times = [info.st_mtim, info.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
        return "sound \(info.st_ino) \(info.st_size) \(times[0]) \(times[1])\n"
    }
}

import Glibc
import Synchronization

/// An exclusive lock on a separate file, held until ``release()``. The file also contains the note of the last owner.
///
/// The kernel releases it when the process ends, even after a crash.
final class FileLock: Sendable {
    /// The open file; -1 after ``release()``.
    private let descriptor: Mutex<Int32>

    /// Creates the file with mode 0600 if it does not exist, and takes the lock without waiting.
    init(path: String) throws(StoreError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // From here on `deinit` closes the file. It must not be closed here too.
        descriptor = Mutex(file)
        guard file >= 0 else { throw StoreError.io(detail: "lock file: " + SystemText.of(errno)) }
        if flock(file, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EWOULDBLOCK { throw StoreError.alreadyOpen }
            throw StoreError.io(detail: "lock file: " + SystemText.of(code))
        }
    }

    /// Returns the note in the file; `nil` if it cannot be read.
    func note() -> String? { descriptor.withLock { Self.note(in: $0) } }

    private static func note(in file: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Replaces the note, and returns when it is on the disk.
    func write(note: String) throws(StoreError) {
        let bytes = Array(note.utf8)
        let code: Int32? = descriptor.withLock { file in
            guard file >= 0, note != Self.note(in: file) else { return nil }
            let isWritten =
                ftruncate(file, 0) == 0 && pwrite(file, bytes, bytes.count, 0) == bytes.count && fsync(file) == 0
            return isWritten ? nil : errno
        }
        if let code { throw StoreError.io(detail: "lock file: " + SystemText.of(code)) }
    }

    /// Releases the lock, so that another agent can open the database.
    func release() {
        descriptor.withLock { file in
            guard file >= 0 else { return }
            // A child process between fork and exec shares the lock. Closing the descriptor would leave it locked for that
            // moment.
            flock(file, LOCK_UN)
            close(file)
            file = -1
        }
    }

    deinit { release() }
}

/// The notes that an agent leaves in its lock file about the state of the database.
///
/// The note is empty while an agent has the database open, and stays empty after a crash or a power loss. It does not match a
/// restored copy, whose time of the last change differs.
extension FileLock {
    static let noteOfDamage = "damaged\n"

    /// The note of a closed database all of whose pages are sound; `nil` if its write-ahead log is not empty.
    static func noteOfSoundness(path: String) -> String? {
        var info = stat()
        guard DatabaseFile.bytes(path: path + "-wal") == 0, stat(path, &info) == 0 else { return nil }
        let times = [info.st_mtim, info.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
        return "sound \(info.st_ino) \(info.st_size) \(times[0]) \(times[1])\n"
    }
}

/// Another program that has a database locked for writing.
package struct LockHolder: Sendable, Hashable, CustomStringConvertible {
    package let pid: Int32
    /// The name of the program, as `ps` shows it; `nil` if it is gone or hidden.
    package let program: String?

    /// `sqlite3, pid 12`
    package var description: String { (program.map { "\($0), " } ?? "") + "pid \(pid)" }

    /// Where SQLite locks its files for a writer: a byte of the write-ahead log's index, and the range of the database's
    /// own locks beyond the first gigabyte, which other journal modes use.
    private static let places: [(suffix: String, start: Int, length: Int)] = [("-shm", 120, 1), ("", 0x4000_0000, 512)]

    /// Returns the program that writes to a database now; `nil` if none does, or if its files cannot be opened. A program
    /// does not see its own locks.
    package static func writing(to database: String) -> LockHolder? {
        places.lazy.compactMap { holder(of: database + $0.suffix, $0.start, $0.length) }.first
    }

    private static func holder(of path: String, _ start: Int, _ length: Int) -> LockHolder? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        // This would end the locks of the process on the same file. The caller has it open nowhere else.
        defer { close(file) }
        // Only the lock of a writer keeps readers away.
        var lock: flock = .init()
        (lock.l_type, lock.l_whence) = (Int16(F_RDLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (start, length)
        guard fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK), lock.l_pid > 0 else { return nil }
        return LockHolder(pid: lock.l_pid, program: program(lock.l_pid))
    }

    private static func program(_ pid: Int32) -> String? {
        let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        let name = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
        return name.isEmpty ? nil : name
    }
}

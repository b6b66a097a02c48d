import Glibc

/// Another program that has a database locked for writing.
package struct LockHolder: Sendable, Hashable, CustomStringConvertible {
    package let pid: Int32
    /// The name of the program, as `ps` shows it; `nil` if it is gone or hidden.
    package let program: String?

    /// `sqlite3, pid 12`
    package var description: String { (program.map { "\($0), " } ?? "") + "pid \(pid)" }

    /// Where SQLite locks its files for a writer: a byte of the write-ahead log's index, and the range of the database's
    /// own locks beyond the first gigabyte, which other journal modes use.
    private static let places: [(suffix: String, start: Int, length: Int)] = [
        ("-shm", 120, 1), ("", 0x4000_0000, 512),
    ]

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

import GRDB
import Glibc
import StarwatchCore

extension DatabaseFile {
    static let partialEnding = ".partial"

    /// Copies an open database to a file beside it, with its owner, mode and encryption, in place of an older copy of that name.
    ///
    /// - Throws: The error of SQLite or the system. No part of a copy is left then, and the older one stays.
    static func copy(_ database: DatabaseQueue, at path: String, to target: String, now: Timestamp) throws {
        let partial = target + Self.partialEnding
        unlink(partial)
        do {
            try createEmpty(partial, like: path)
            try database.writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [partial]) }
            try finish(partial, as: target, now: now)
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Copies a database if its file is lost.
    ///
    /// - Parameter file: The file that is open; `nil` if its loss is another's concern.
    /// - Returns: The copy's file name; `nil` if the file is not lost.
    static func rescue(_ database: DatabaseQueue, of file: Identity?, at path: String, now: Timestamp) throws -> String?
    {
        guard let file, file.isLost(from: path) else { return nil }
        let target = path + ".rescued"
        try copy(database, at: path, to: target, now: now)
        return String(target.split(separator: "/").last ?? "")
    }

    /// Creates a file with the owner and mode of the database, because SQLite would give it those of any new file.
    private static func createEmpty(_ file: String, like path: String) throws(StoreError) {
        var info = stat()
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
        defer { close(descriptor) }
        // The database itself can be gone.
        guard stat(path, &info) == 0 else { return }
        // Only root can and needs to give it away.
        if info.st_uid != geteuid() { _ = fchown(descriptor, info.st_uid, info.st_gid) }
        guard fchmod(descriptor, info.st_mode & 0o700) == 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
    }

    /// Renames a copy after it is on the disk, with the time that its age counts from.
    private static func finish(_ file: String, as target: String, now: Timestamp) throws(StoreError) {
        let descriptor = open(file, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
        defer { close(descriptor) }
        let time = timespec(tv_sec: Int(now.milliseconds / 1000), tv_nsec: 0)
        guard futimens(descriptor, [time, time]) == 0, fsync(descriptor) == 0, rename(file, target) == 0 else {
            throw StoreError.io(detail: SystemText.of(errno))
        }
        // Otherwise what follows, such as an upgrade, could survive a power loss, and the new name not.
        let directory = open(folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw StoreError.io(detail: SystemText.of(errno)) }
    }
}

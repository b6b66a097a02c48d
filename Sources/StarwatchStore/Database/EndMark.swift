import Glibc

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

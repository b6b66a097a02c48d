import Glibc

/// The note that an agent leaves in its lock file about the state of the database.
///
/// An empty note means that an agent has the database open, or did not close it. So do a crash, a power loss, and the note
/// of another file: a restored copy has another time of its last change.
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

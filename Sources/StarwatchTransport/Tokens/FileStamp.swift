import Glibc

/// The attributes of a file that change with its content.
package struct FileStamp: Sendable, Hashable {
    private let numbers: [Int]

    /// The stamp of the file at `path`, or of the target of a link; `nil` if there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
            Int(status.st_mode), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }
}

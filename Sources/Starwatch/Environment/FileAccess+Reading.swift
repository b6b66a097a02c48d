import Glibc
package import StarwatchCore
import StarwatchStore

extension FileAccess {
    /// Reads the owner and the mode of a file, or of the target of a link; `nil` if there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(owner: status.st_uid, mode: status.st_mode)
    }

    /// Reads the owner and the mode of an open file; `nil` if it is not a regular file.
    init?(regularFile descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(owner: status.st_uid, mode: status.st_mode)
    }

    /// Reads the owner and the mode of the folder that contains `path`.
    package init?(folderOf path: String) {
        guard let slash = path.lastIndex(of: "/") else {
            self.init(path: ".")
            return
        }
        self.init(path: String(path[...slash]) + ".")
    }
}

/// The system's text for an `errno`, for modules that cannot import the store.
package enum ErrnoText {
    package static func of(_ code: Int32) -> String { SystemText.of(code) }
}

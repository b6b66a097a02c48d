// For the fields of `timespec`, whose header is in both modules.
import CCurl
import Glibc
package import StarwatchCore

/// A file that holds a secret. Rejected when other users own it or can read it; reread when it changes.
///
/// Its description never shows the content.
package struct SecretFile: Sendable, CustomStringConvertible, CustomReflectable {
    /// The configuration key of the path, for errors.
    private let setting: String
    private let path: String
    private let content: SecretContent
    private let isCredential: Bool
    private let limitBytes: Int
    private let reader: SecretReader
    /// The attributes that change with the file's content.
    private var stamp: FileStamp?

    /// - Parameters:
    ///   - path: The configured path. A relative path is searched in `credentialsDirectory` first, then in `directory`.
    ///   - setting: The configuration key, such as `auth.secret_file`.
    ///   - content: The form of the secret.
    ///   - directory: The configuration file's folder; `nil` for the working directory.
    ///   - credentialsDirectory: `$CREDENTIALS_DIRECTORY`; `nil` when systemd did not set it.
    ///   - limitBytes: Upper bound of the file's size; 1 MiB.
    ///   - reader: The user that must own the file, unless root does.
    package init(
        path: String,
        setting: String,
        holding content: SecretContent = .bytes,
        directory: String? = nil,
        credentialsDirectory: String? = nil,
        limitBytes: Int = 1024 * 1024,
        reader: SecretReader = SecretReader()
    ) {
        (self.reader, self.setting, self.content, self.limitBytes) = (reader, setting, content, limitBytes)
        if !path.hasPrefix("/"), !path.split(separator: "/").contains(".."), let credentialsDirectory,
            access(credentialsDirectory + "/" + path, F_OK) == 0
        {
            self.path = credentialsDirectory + "/" + path
            isCredential = true
        } else {
            self.path = path.hasPrefix("/") ? path : directory.map { $0 + "/" + path } ?? path
            isCredential = credentialsDirectory.map { path.hasPrefix($0 + "/") } ?? false
        }
    }

    /// The secret in the file; `nil` when the file has not changed since the last call.
    ///
    /// - Throws: ``TokenError/fileUnreadable(setting:)``, ``TokenError/fileOwner(setting:)``,
    ///   ``TokenError/filePermissions(setting:)``, ``TokenError/fileForeignPermissions(setting:)``, or
    ///   ``TokenError/fileInvalid(setting:advice:)`` when the file is empty, too large or of another form.
    package mutating func readIfChanged() throws(TokenError) -> [UInt8]? {
        if let stamp, stamp == FileStamp(path: path) { return nil }
        // O_NONBLOCK: opening a pipe would block the caller.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .fileUnreadable(setting: setting) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .fileUnreadable(setting: setting)
        }
        try check(status)
        guard let bytes = FileBytes.read(descriptor, limit: limitBytes) else {
            throw .fileInvalid(setting: setting, advice: "it is larger than \(limitBytes) bytes; check the path")
        }
        do throws(SecretContent.Mistake) {
            let secret = try content.secret(in: bytes)
            stamp = FileStamp(status)
            return secret
        } catch { throw .fileInvalid(setting: setting, advice: error.advice) }
    }

    private func check(_ status: stat) throws(TokenError) {
        let access = SecretAccess(
            file: FileAccess(owner: status.st_uid, mode: status.st_mode),
            group: status.st_gid,
            isCredential: isCredential
        )
        let problem = access.problem(for: reader.user, in: reader.groups) {
            reader.seesAlone(path, FileStamp.device(of: status))
        }
        switch problem {
        case nil: return
        case .owner: throw .fileOwner(setting: setting)
        case .mode: throw .filePermissions(setting: setting)
        case .foreignMode: throw .fileForeignPermissions(setting: setting)
        }
    }

    /// The secret in the file, even if the file has not changed. Throws like ``readIfChanged()``.
    package mutating func read() throws(TokenError) -> [UInt8] {
        stamp = nil
        return try readIfChanged() ?? []
    }

    package var description: String { "<secret file>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The attributes of a file that change with its content, its owner or its group.
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
            Int(status.st_mode), Int(status.st_uid), Int(status.st_gid), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }

    /// `MAJOR:MINOR` of the file system.
    fileprivate static func device(of status: stat) -> String {
        let number = UInt64(status.st_dev)
        let major = number >> 8 & 0xfff | number >> 32 & ~0xfff
        return "\(major):\(number & 0xff | number >> 12 & ~0xff)"
    }
}

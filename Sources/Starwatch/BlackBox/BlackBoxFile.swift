import Glibc
import StarwatchCore
import StarwatchStore

/// The file of the black box, open for writing.
///
/// It has its full size from the start, and later writes only replace bytes. So they need no room on a full disk, except
/// on file systems that never write in place.
final class BlackBoxFile {
    /// The content that was there.
    let content: BlackBox.Content
    let descriptor: Int32
    private var rings: [BlackBoxRing.Kind: BlackBoxRing]

    /// Opens the file, or creates it with mode 0600. A file of another version, or of another program, is begun anew.
    ///
    /// Root gives a new file to the owner of the folder, whose agent must be able to write to it.
    ///
    /// - Returns: `nil` if it cannot be used, or if another agent has it open.
    init?(path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        guard let access = FileAccess(regularFile: descriptor), Self.lock(descriptor) else {
            close(descriptor)
            return nil
        }
        if access.mode & 0o777 != 0o600 { _ = fchmod(descriptor, 0o600) }
        if geteuid() == 0, let owner = FileAccess(folderOf: path)?.owner, owner != access.owner {
            _ = fchown(descriptor, owner, gid_t.max)
        }
        let bytes = Self.bytes(of: descriptor)
        if bytes.count == BlackBox.fileBytes, let found = try? BlackBox.read(bytes) {
            content = found
        } else {
            // A file that was cut keeps its records.
            let kept = (try? BlackBox.read(bytes)) == nil ? BlackBox.head : bytes
            let padding = [UInt8](repeating: 0, count: max(0, BlackBox.fileBytes - kept.count))
            _ = ftruncate(descriptor, off_t(BlackBox.fileBytes))
            Self.write(kept + padding, at: 0, to: descriptor)
            content = (try? BlackBox.read(kept)) ?? BlackBox.Content()
        }
        self.descriptor = descriptor
        rings = content.rings
    }

    deinit {
        // A child process between fork and exec shares the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The place of the next mark.
    var nextMark: BlackBoxRing { rings[.marks] ?? BlackBoxRing(.marks) }

    func write(_ kind: BlackBoxRecord.Kind, at time: Timestamp, _ text: String) {
        let ring: BlackBoxRing.Kind = kind == .line ? .lines : .marks
        guard let (offset, bytes) = rings[ring]?.place(kind, at: time, text) else { return }
        Self.write(bytes, at: offset, to: descriptor)
    }

    /// Writes a sign of life of the run over the former one.
    func sign(at time: Timestamp) { Self.write(BlackBox.sign(at: time), at: BlackBox.signOffset, to: descriptor) }

    /// Returns when the records are on the disk, so that a power loss does not take them.
    func synchronize() { fdatasync(descriptor) }

    /// Reads a file that an agent can be writing to.
    ///
    /// - Returns: The bytes, and whether an agent has the file open; `nil` if it cannot be read.
    static func read(path: String) -> (bytes: [UInt8], isInUse: Bool)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, FileAccess(regularFile: descriptor) != nil else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        defer { close(descriptor) }
        let isInUse = flock(descriptor, LOCK_SH | LOCK_NB) != 0
        if !isInUse { flock(descriptor, LOCK_UN) }
        return (bytes(of: descriptor), isInUse)
    }

    /// Locks the file for an agent. A reader has a lock for microseconds, so a second look is enough.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<20 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(1000)
        }
        return false
    }

    private static func bytes(of descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BlackBox.fileBytes)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            if read <= 0 { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    private static func write(_ bytes: [UInt8], at offset: Int, to descriptor: Int32) {
        var count = 0
        while count < bytes.count {
            let written = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + count, $0.count - count, off_t(offset + count))
            }
            if written < 0, errno == EINTR { continue }
            // There is nobody to tell: the log has the line too.
            if written <= 0 { return }
            count += written
        }
    }
}

import FoundationEssentials
import GRDB
import Glibc
import StarwatchCore

/// The copies of a database from before its upgrades: `DATABASE.before-VERSION`, where VERSION is that of the upgrade.
///
/// A copy has the owner, the mode and the encryption of the database. The former program opens it after a downgrade.
struct UpgradeCopy {
    /// The path of the database.
    let path: String
    /// Deletes a file. Returns whether it is gone.
    var delete: (_ path: String) -> Bool = { unlink($0) == 0 || errno == ENOENT }

    /// Space in bytes that must stay free beside a new copy.
    static let reserve = 8 << 20

    /// Copies the database before an upgrade to `version`.
    ///
    /// Replaces an older copy of the same name, unless that is of an older version: then an upgrade was interrupted, and the
    /// database is no longer that of the former program.
    ///
    /// - Returns: The file name of the copy.
    /// - Throws: ``StoreError/noRoomForCopy(version:bytes:)``, or the error of SQLite or the system. No copy is left then.
    func make(of database: DatabaseQueue, to version: Int, now: Timestamp) throws -> String {
        let target = "\(path).before-\(version)"
        let name = String(target.split(separator: "/").last ?? "")
        let found = try database.unsafeRead { db in try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }
        if let former = Self.version(of: target), former < found { return name }
        let needed = DatabaseFile.bytes(path: path) + DatabaseFile.bytes(path: path + "-wal")
        let missing = Self.missing(for: needed, free: DatabaseFile.freeBytes(path: path) ?? .max)
        guard missing == 0 else { throw StoreError.noRoomForCopy(version: version, bytes: missing) }
        try DatabaseFile.copy(database, at: path, to: target, now: now)
        return name
    }

    /// The bytes that must become free before a copy of `needed` bytes; 0 if there is room.
    static func missing(for needed: Int, free: Int) -> Int { max(0, needed - (free - reserve)) }

    /// Deletes the copies that are older than `age`.
    func removeExpired(after age: Duration, now: Timestamp) {
        for copy in copies where Timestamp(seconds: Int64(copy.modified)) + age <= now { unlink(copy.path) }
    }

    /// Deletes the incomplete copies of starts that were killed. Only for the owner of the database.
    func removePartial() { for copy in files(Self.partialEnding) { unlink(copy.path) } }

    /// Deletes all copies, incomplete ones too, because what they contain must not stay.
    ///
    /// - Returns: The file name of the first one that cannot be deleted; `nil` if all are gone.
    func removeAll() -> String? { (copies + files(Self.partialEnding)).filter { !delete($0.path) }.first?.name }

    /// The file name of the newest copy whose schema version is in `versions`; `nil` if there is none.
    func newest(of versions: ClosedRange<Int>) -> String? {
        copies.filter { copy in Self.version(of: copy.path).map(versions.contains) ?? false }
            .max { ($0.modified, $0.path) < ($1.modified, $1.path) }?.name
    }

    /// A file with its time of modification, in seconds since 1970.
    private typealias Copy = (name: String, path: String, modified: Int)

    private var folder: String { DatabaseFile.folder(of: path) }

    private static let partialEnding = DatabaseFile.partialEnding

    private var copies: [Copy] { files("") }

    /// The files whose names are those of copies with an ending.
    private func files(_ ending: String) -> [Copy] {
        let prefix = "\(path.split(separator: "/").last ?? "").before-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            let version = name.dropFirst(prefix.count).dropLast(ending.count)
            guard name.hasPrefix(prefix), name.hasSuffix(ending), Int(version) != nil else { return nil }
            var info = stat()
            guard lstat(folder + name, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
            return (name, folder + name, info.st_mtim.tv_sec)
        }
    }

    /// The schema version in the header of a database file.
    private static func version(of file: String) -> Int? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var value: UInt32 = 0
        guard pread(descriptor, &value, 4, 60) == 4 else { return nil }
        return Int(UInt32(bigEndian: value))
    }
}

extension StoreError {
    /// The error of a program that is older than the database, with the copy that it can open.
    func naming(_ copy: UpgradeCopy) -> StoreError {
        guard case .version(let found, let supported, nil) = self, found > supported.upperBound else { return self }
        // Versions before `supported` can be migrated.
        return .version(found: found, supported: supported, copy: copy.newest(of: 1...supported.upperBound))
    }
}

/// An upgrade of the database that opening it made.
package struct SchemaUpgrade: Sendable, Hashable {
    /// The schema version before.
    package let from: Int
    /// The schema version since.
    package let to: Int
    /// The file name of the copy from before, beside the database; `nil` if none is kept.
    package var copy: String?
}

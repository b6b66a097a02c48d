import Foundation
import Glibc

/// A directory that is gone when its last reference is.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("starwatch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The owner of files after ``giveAway(_:)``. Only root can change an owner; for others, it is they.
    static let stranger: UInt32 = geteuid() == 0 ? 4_000_000 : geteuid()
    /// A user that owns no file.
    static let user: UInt32 = 4_000_001

    /// Makes a file one of ``stranger``.
    func giveAway(_ name: String) throws {
        try FileManager.default.setAttributes([.ownerAccountID: Int(Self.stranger)], ofItemAtPath: path + "/" + name)
    }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}

import Foundation
import Glibc
import StarwatchStore

/// The disk of a simulation: databases in memory, and a folder for the few files that are not databases.
final class SimulatedDisk: Sendable {
    /// What a database wants of it.
    enum Access {
        case read, write
    }

    /// Why it does not get it.
    enum Failure {
        case full, broken
    }

    private struct State {
        var number = 0
        var files: [String: MemoryFile] = [:]
        var fail: ((Access) -> Failure?)?
    }

    /// A new agent's database. Making one takes as long as ten poll cycles, so that most runs get a copy.
    private static let newDatabase = Result {
        let disk = try SimulatedDisk(isEmpty: true)
        defer { disk.remove() }
        try Schema.makeDatabase(at: disk.path)
        return disk.file(at: disk.path)?.bytes ?? []
    }

    let root: String
    private let state = Confined(State())

    /// - Parameter isEmpty: Whether the first agent makes its database itself.
    /// - Throws: When no folder can be made.
    init(isEmpty: Bool) throws {
        let base = access("/dev/shm", W_OK) == 0 ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
        // SQLite asks for its files by their true paths.
        root = base.resolvingSymlinksInPath().path + "/starwatch-simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        MemoryVFS.install()
        if !isEmpty { state.value.files[path] = MemoryFile(try Self.newDatabase.get(), on: self) }
        let secret = Array("a secret of thirty-two bytes, no less".utf8)
        try Data(secret).write(to: URL(filePath: secretFile))
        chmod(secretFile, 0o600)
        MemoryVFS.add(self)
    }

    var secretFile: String { root + "/secret" }

    /// The database that the next agent opens.
    var path: String { path(state.value.number) }

    private func path(_ number: Int) -> String { "\(root)/\(number).db" }

    // MARK: - Files

    /// The file at `path`; `nil` when there is none.
    func file(at path: String) -> MemoryFile? { state.value.files[path] }

    /// The file at `path`, made when there is none.
    func makeFile(at path: String) -> MemoryFile {
        if let file = file(at: path) { return file }
        let file = MemoryFile([], on: self)
        state.value.files[path] = file
        return file
    }

    func removeFile(at path: String) { state.value.files[path] = nil }

    /// From now on, every access to the bytes of a file asks `fail`; `nil`: none fails.
    func failWhen(_ fail: ((Access) -> Failure?)?) { state.value.fail = fail }

    /// Why this access fails; `nil` when it does not.
    func failure(_ access: Access) -> Failure? { state.value.fail?(access) }

    // MARK: - Crashes

    /// Leaves for the next agent what is on the disk at this moment, whatever the running one does to it later.
    ///
    /// - Parameter isLost: Asked for each sector from the first to the last that was written and not synced, because power
    ///   was lost: its place among them, 0 ..< 1. `nil` when the machine goes on, and loses nothing.
    func cut(isLost: ((Double) -> Bool)?) {
        let former = path
        state.value.number += 1
        for suffix in ["", "-wal", "-journal"] {
            guard let file = file(at: former + suffix) else { continue }
            state.value.files[path + suffix] =
                isLost.map { MemoryFile(file.afterPowerLoss($0), on: self) } ?? file.copy()
        }
    }

    /// Deletes what former agents left.
    func clean() {
        let current = path
        state.value.files = state.value.files.filter { $0.key.hasPrefix(current) }
        let number = state.value.number
        if number > 0 { for suffix in ["", ".lock"] { unlink(path(number - 1) + suffix) } }
    }

    func remove() {
        MemoryVFS.remove(self)
        state.value.files = [:]
        state.value.fail = nil
        try? FileManager.default.removeItem(atPath: root)
    }
}

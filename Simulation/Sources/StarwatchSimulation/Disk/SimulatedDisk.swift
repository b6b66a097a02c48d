import Foundation
import Glibc
import StarwatchStore

/// Disk of a simulation: databases in memory, and a folder for the few files that are not databases.
final class SimulatedDisk: Sendable {
    /// Kind of access to a file.
    enum Access {
        case read, write
    }

    /// Reason for a failed access.
    enum Failure {
        case full, broken
    }

    private struct State {
        var number = 0
        var files: [String: MemoryFile] = [:]
        var fail: ((Access) -> Failure?)?
    }

    /// New database, which most runs copy. Making one takes as long as ten poll cycles.
    private static let newDatabase = Result {
        let disk = try SimulatedDisk(isEmpty: true)
        defer { disk.remove() }
        try Schema.makeDatabase(at: disk.path)
        return disk.file(at: disk.path)?.bytes ?? []
    }

    let root: String
    private let state = Confined(State())

    /// - Parameter isEmpty: If `true`, the first agent makes its database itself.
    /// - Throws: An error if the folder cannot be made.
    init(isEmpty: Bool) throws {
        let base = access("/dev/shm", W_OK) == 0 ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
        // SQLite opens files by their paths without symbolic links.
        root = base.resolvingSymlinksInPath().path + "/starwatch-simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        MemoryVFS.install()
        if !isEmpty { state.value.files[path] = MemoryFile(try Self.newDatabase.get(), on: self) }
        let secret = Array("a secret of thirty-two bytes, no less".utf8)
        try Data(secret).write(to: URL(filePath: secretFile))
        try Data("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".utf8).write(to: URL(filePath: masterKeyFile))
        for file in [secretFile, masterKeyFile] { chmod(file, 0o600) }
        MemoryVFS.add(self)
    }

    var secretFile: String { root + "/secret" }
    var masterKeyFile: String { root + "/master.key" }

    /// Path of the database that the next agent opens.
    var path: String { path(state.value.number) }

    /// Path of the same database for another process, whose lock file is another one.
    var otherPath: String { "\(root)/\(Self.other)\(state.value.number).db" }

    private static let other = "other-"

    /// Returns the name under which a file is kept.
    private func name(of path: String) -> String {
        path.hasPrefix("\(root)/\(Self.other)") ? "\(root)/" + path.dropFirst(root.count + 1 + Self.other.count) : path
    }

    private func path(_ number: Int) -> String { "\(root)/\(number).db" }

    // MARK: - Files

    /// Returns the file at `path`; `nil` if there is none.
    func file(at path: String) -> MemoryFile? { state.value.files[name(of: path)] }

    /// Returns the file at `path`, and makes it if there is none.
    func makeFile(at path: String) -> MemoryFile {
        if let file = file(at: path) { return file }
        let file = MemoryFile([], on: self)
        state.value.files[name(of: path)] = file
        return file
    }

    func removeFile(at path: String) { state.value.files[name(of: path)] = nil }

    /// Sets the function that decides whether an access to the bytes of a file fails; with `nil` none fails.
    func failWhen(_ fail: ((Access) -> Failure?)?) { state.value.fail = fail }

    /// Returns the reason for which this access fails; `nil` if it succeeds.
    func failure(_ access: Access) -> Failure? { state.value.fail?(access) }

    // MARK: - Crashes

    /// Gives the next agent a snapshot of the disk, which later writes of the running agent do not change.
    ///
    /// - Parameter isLost: In a power loss, called for each sector from the first to the last one that was written and not
    ///   synced, with the sector's relative position: 0 ..< 1. `nil` if the machine keeps running and loses nothing.
    func cut(isLost: ((Double) -> Bool)?) {
        let former = path
        state.value.number += 1
        for suffix in ["", "-wal", "-journal"] {
            guard let file = file(at: former + suffix) else { continue }
            state.value.files[path + suffix] =
                isLost.map { MemoryFile(file.afterPowerLoss($0), on: self) } ?? file.copy()
        }
    }

    /// Deletes the files of former agents.
    func clean() {
        let current = path
        state.value.files = state.value.files.filter { $0.key.hasPrefix(current) }
        let number = state.value.number
        guard number > 0 else { return }
        for suffix in ["", ".lock"] {
            unlink(path(number - 1) + suffix)
            unlink("\(root)/\(Self.other)\(number - 1).db" + suffix)
        }
    }

    func remove() {
        MemoryVFS.remove(self)
        state.value.files = [:]
        state.value.fail = nil
        try? FileManager.default.removeItem(atPath: root)
    }
}

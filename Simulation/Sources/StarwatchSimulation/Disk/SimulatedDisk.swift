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
        /// The functions that decide whether an access of a process fails.
        var fail: [Int: (Access) -> Failure?] = [:]
        /// The processes that were killed while others run on.
        var cutOff: Set<Int> = []
        /// Number of connections that were opened.
        var connections = 0
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
        if !isEmpty, let name = place(of: path)?.name {
            state.value.files[String(name)] = MemoryFile(try Self.newDatabase.get(), on: self)
        }
        let secret = Array("a secret of thirty-two bytes, no less".utf8)
        try Data(secret).write(to: URL(filePath: secretFile))
        try Data("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".utf8).write(to: URL(filePath: masterKeyFile))
        for file in [secretFile, masterKeyFile] { chmod(file, 0o600) }
        MemoryVFS.add(self)
    }

    var secretFile: String { root + "/secret" }
    var masterKeyFile: String { root + "/master.key" }

    /// Path of the database for the first process.
    var path: String { path(of: 0) }

    /// Path of the database for a process. Each has a lock file of its own, so that several can open the database.
    func path(of process: Int) -> String { "\(root)/\(process)-\(state.value.number).db" }

    /// Returns the process that opens a path, and the name under which the file is kept.
    private func place(of path: String) -> (process: Int, name: Substring)? {
        let name = path.dropFirst(root.count + 1)
        guard let end = name.firstIndex(of: "-"), let process = Int(name[..<end]) else { return nil }
        return (process, name[name.index(after: end)...])
    }

    /// Returns the process that opens a path.
    func process(of path: String) -> Int { place(of: path)?.process ?? 0 }

    // MARK: - Files

    /// Returns the file at `path`; `nil` if there is none.
    func file(at path: String) -> MemoryFile? { place(of: path).flatMap { state.value.files[String($0.name)] } }

    /// Returns the file at `path`, and makes it if there is none.
    func makeFile(at path: String) -> MemoryFile {
        if let file = file(at: path) { return file }
        let file = MemoryFile([], on: self)
        if let place = place(of: path) { state.value.files[String(place.name)] = file }
        return file
    }

    func removeFile(at path: String) {
        if let place = place(of: path) { state.value.files[String(place.name)] = nil }
    }

    /// Sets the function that decides whether an access of a process to the bytes of a file fails; with `nil` none fails.
    func failWhen(of process: Int = 0, _ fail: ((Access) -> Failure?)?) {
        state.value.fail[process] = fail
        state.value.cutOff.remove(process)
    }

    /// Returns the reason for which this access fails; `nil` if it succeeds.
    func failure(_ access: Access, of process: Int) -> Failure? { state.value.fail[process]?(access) }

    /// Returns the number of a new connection.
    func nextConnection() -> Int {
        state.value.connections += 1
        return state.value.connections
    }

    /// Whether a process was killed, so that it gets no lock.
    func isCutOff(_ process: Int) -> Bool { state.value.cutOff.contains(process) }

    // MARK: - Crashes

    /// Takes its locks from a process that was killed while others use the files.
    func cutOff(_ process: Int) {
        state.value.cutOff.insert(process)
        for file in state.value.files.values { file.locks.unlock(process) }
    }

    /// Gives the next agent a snapshot of the disk, which later writes of the running agent do not change.
    ///
    /// - Parameter isLost: In a power loss, called for each sector from the first to the last one that was written and not
    ///   synced, with the sector's relative position: 0 ..< 1. `nil` if the machine keeps running and loses nothing.
    func cut(isLost: ((Double) -> Bool)?) {
        let former = path
        state.value.number += 1
        for suffix in ["", "-wal", "-journal"] {
            guard let file = file(at: former + suffix), let copy = place(of: path + suffix) else { continue }
            state.value.files[String(copy.name)] =
                isLost.map { MemoryFile(file.afterPowerLoss($0), on: self) } ?? file.copy()
        }
    }

    /// Deletes the files of former agents.
    func clean() {
        guard let current = place(of: path)?.name else { return }
        state.value.files = state.value.files.filter { $0.key.hasPrefix(current) }
        let number = state.value.number
        guard number > 0 else { return }
        for process in 0...Self.mostProcesses {
            for suffix in ["", ".lock"] { unlink("\(root)/\(process)-\(number - 1).db\(suffix)") }
        }
    }

    /// More than any simulation has, with those that only look.
    private static let mostProcesses = 7

    func remove() {
        MemoryVFS.remove(self)
        state.value.files = [:]
        state.value.fail = [:]
        try? FileManager.default.removeItem(atPath: root)
    }
}

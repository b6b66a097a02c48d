import Foundation
import Glibc
import StarwatchStore

/// The folder of a simulation's database. Copying it is what a crash leaves behind.
final class SimulatedDisk: Sendable {
    private struct State {
        var number = 0
    }

    /// A new agent's database. Making one takes as long as ten poll cycles, so that most runs get a copy.
    private static let newDatabase = Result {
        let folder = try SimulatedDisk.folder(named: UUID().uuidString)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Schema.makeDatabase(at: folder + "/starwatch.db")
        return try Data(contentsOf: URL(filePath: folder + "/starwatch.db"))
    }

    let root: String
    private let state = Confined(State())

    /// - Parameter isEmpty: Whether the first agent makes its database itself.
    /// - Throws: When no folder can be made.
    init(isEmpty: Bool) throws {
        root = try Self.folder(named: UUID().uuidString)
        try FileManager.default.createDirectory(atPath: folder(0), withIntermediateDirectories: true)
        if !isEmpty {
            try Self.newDatabase.get().write(to: URL(filePath: path))
            chmod(path, 0o600)
        }
        let secret = Array("a secret of thirty-two bytes, no less".utf8)
        try Data(secret).write(to: URL(filePath: secretFile))
        chmod(secretFile, 0o600)
    }

    /// Makes a folder in memory where there is one.
    private static func folder(named name: String) throws -> String {
        let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        let folder = base + "/starwatch-simulation-" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    var secretFile: String { root + "/secret" }
    private func folder(_ number: Int) -> String { root + "/\(number)" }
    /// The database that the next agent opens.
    var path: String { folder(state.value.number) + "/starwatch.db" }

    /// Leaves for the next agent what is on the disk at this moment, whatever the running one does to it later.
    ///
    /// - Parameter lost: The share of the write-ahead log that did not reach the disk, because power was lost.
    func cut(losing lost: Double) {
        let former = path
        state.value.number += 1
        mkdir(folder(state.value.number), 0o700)
        copy(former, path, keeping: 1)
        // From four megabytes on, SQLite may have moved frames into the database, and those cannot be lost.
        var info = stat()
        let size = stat(former + "-wal", &info) == 0 ? Int(info.st_size) : 0
        copy(former + "-wal", path + "-wal", keeping: size < 4_000_000 ? 1 - lost : 1)
    }

    /// Deletes what former agents left.
    func clean() {
        let number = state.value.number
        guard number > 0 else { return }
        for suffix in ["", "-wal", "-shm", ".lock"] { unlink(folder(number - 1) + "/starwatch.db" + suffix) }
        rmdir(folder(number - 1))
    }

    func remove() { try? FileManager.default.removeItem(atPath: root) }

    private func copy(_ from: String, _ to: String, keeping share: Double) {
        let source = open(from, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { return }
        defer { close(source) }
        let target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard target >= 0 else { return }
        defer { close(target) }
        var info = stat()
        fstat(source, &info)
        var left = Int(Double(info.st_size) * share)
        var offset: off_t = 0
        while left > 0 {
            let moved = sendfile(target, source, &offset, left)
            if moved <= 0 { break }
            left -= moved
        }
    }
}

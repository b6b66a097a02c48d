import Foundation
import GRDB
import ProgramTestKit

/// The database of an agent that has it open, in the hands of another program and of a disk that spoils it.
struct DatabaseOnDisk {
    /// Pages that were overwritten.
    struct Damage {
        fileprivate let path: String
        /// Original bytes, by offset.
        fileprivate var pages: [UInt64: Data] = [:]

        /// Puts back what was there.
        func mend() throws {
            let file = try FileHandle(forUpdating: URL(filePath: path))
            for (offset, bytes) in pages {
                try file.seek(toOffset: offset)
                try file.write(contentsOf: bytes)
            }
            try file.close()
        }
    }

    let path: String

    /// A connection that waits for an agent's lock, such as that of a write a second after a cycle.
    private func open() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(longestWait.components.seconds))
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Changes what is stored, as another program does.
    func execute(_ sql: String) throws {
        let queue = try open()
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Keeps everybody else from writing while `body` runs.
    func locked(_ body: () async throws -> Void) async throws {
        let queue = try open()
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        do { try await body() } catch {
            try? queue.close()
            throw error
        }
        try queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
    }

    /// Makes the agent's connection read again what it remembers of the file, as it does after another's write.
    func makeStale() throws {
        // A value of its own each time: what is the same is not written.
        try execute(
            """
            INSERT INTO host_watermarks (key, watermark, updated_at) VALUES ('stale', '0', 0)
            ON CONFLICT (key) DO UPDATE SET updated_at = updated_at + 1
            """
        )
    }

    /// Overwrites the first pages of a table and of its indexes. What is in the journal hides them: empty it before.
    func damage(_ table: String) throws -> Damage {
        let queue = try open()
        let size = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 4096 }
        let roots = try queue.read { db in
            try Int.fetchAll(db, sql: "SELECT rootpage FROM sqlite_schema WHERE tbl_name = ?", arguments: [table])
        }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(filePath: path))
        var damage = Damage(path: path)
        for root in roots {
            let offset = UInt64((root - 1) * size)
            try file.seek(toOffset: offset)
            damage.pages[offset] = try file.read(upToCount: size)
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(repeating: 0xA5, count: size))
        }
        try file.close()
        return damage
    }
}

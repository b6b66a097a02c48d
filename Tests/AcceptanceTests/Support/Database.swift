import Foundation
import GRDB
import ProgramTestKit

/// The agent's database file, read as a stranger would.
enum Database {
    static func watermark(at path: String) throws -> String? {
        try read(path, "SELECT watermark FROM watermarks")
    }

    /// A connection that waits for an agent's locks: an agent can lose the processor while it holds one.
    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(longestWait.components.seconds))
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func strings(_ path: String, _ sql: String) throws -> [String] {
        let queue = try open(path)
        return try queue.read { try String.fetchAll($0, sql: sql) }
    }

    static func integer(_ path: String, _ sql: String) throws -> Int {
        let queue = try open(path)
        return try queue.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    /// Whether fetched = new + duplicate + rejected, and new = delivered + dead + cancelled + suppressed + undecided.
    static func booksBalance(_ path: String) throws -> Bool {
        let laws = """
            SELECT sum(abs(fetched - new - duplicate - rejected)) + sum(abs(new - delivered - dead - cancelled
                - suppressed - (SELECT count(*) FROM notification_outbox AS o WHERE o.stream_id = ledger.stream_id
                    AND o.state IN ('pending', 'claimed', 'evicted'))))
            FROM ledger
            """
        return try integer(path, laws) == 0
    }

    /// Changes what is stored, while no agent has it.
    static func execute(_ path: String, _ sql: String) throws {
        try open(path).write { try $0.execute(sql: sql) }
    }

    static func read(_ path: String, _ sql: String) throws -> String? {
        let queue = try open(path)
        return try queue.read { try String.fetchOne($0, sql: sql) }
    }
}

extension Database {
    /// A database that a later version made.
    static func create(_ path: String, version: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE later (x); PRAGMA user_version = \(version)") }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}

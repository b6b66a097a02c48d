import GRDBSQLite
import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Another process on the same database, which takes accounts over and does nothing for them.
final class SecondOwner {
    private let store: Store
    private let path: String
    private var leases: [AccountLease] = []
    /// The stored forms of the accounts, as a JSON array.
    private var forms = "[]"
    private var rows: Set<String> = []
    private let name = "other-" + RandomID.uuid()

    /// The number of accounts that it took over.
    var accounts: Int { leases.count }

    /// - Returns: `nil` if the database cannot be opened.
    init?(disk: SimulatedDisk, random: @escaping @Sendable () -> [UInt8]) {
        var options = StoreOptions(path: disk.otherPath)
        options.queue = Lane()
        options.masterKey = Simulation.masterKey
        options.newKey = random
        guard let store = try? Store(options) else { return nil }
        (self.store, path) = (store, disk.otherPath)
    }

    /// Claims the accounts whose leases have ended.
    ///
    /// - Parameter hidden: Whether the former owners still seem to have their leases.
    func claim(at now: Timestamp, for length: Duration, hidden: Bool) async {
        let former = hidden ? read("SELECT account, owner, epoch, due_at FROM leases WHERE owner IS NOT NULL") : []
        let claimed = try? await store.accounts.claim(
            limit: 1000,
            owner: name,
            now: now,
            until: now + length,
            for: LeaseTerm(from: .zero)
        )
        leases = claimed?.leases ?? []
        forms =
            "[" + read("SELECT account FROM leases WHERE owner = ?1", name).map { "\"\($0)\"" }.joined(separator: ",")
            + "]"
        rows = Set(read(Self.rows, forms))
        guard hidden else { return }
        for row in former.map({ $0.split(separator: "|").map(String.init) }) where row.count == 4 {
            _ = read("UPDATE leases SET owner = '\(row[1])', epoch = \(row[2]) WHERE account = '\(row[0])'")
        }
    }

    /// A row of these accounts that was added or changed since the claim; `nil` if none was.
    func changedRow() -> String? {
        // What retention deletes is missing.
        read(Self.rows, forms).first { !rows.contains($0) }
    }

    func end(releasing: Bool, at now: Timestamp) async {
        if releasing { _ = try? await store.accounts.release(leases.map { LeaseEnd($0, next: now) }) }
        await store.close()
    }

    /// What work for accounts writes, without the values that a change of keys writes again.
    private static let rows = """
        WITH f AS (SELECT value AS account FROM json_each(?1)),
            s AS (SELECT id FROM streams WHERE account IN (SELECT account FROM f)),
            n AS (SELECT id FROM notifications WHERE stream_id IN (SELECT id FROM s))
        SELECT 'streams', account, poll, fetch_cursor, bootstrapped_at, walk_top, walk_before, last_attempt, last_success,
            next_run, seen_until FROM streams WHERE id IN (SELECT id FROM s)
        UNION ALL SELECT 'watermarks', account, poll, watermark, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM watermarks WHERE account IN (SELECT account FROM f)
        UNION ALL SELECT 'request_windows', account, hex(window), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM request_windows WHERE account IN (SELECT account FROM f)
        UNION ALL SELECT 'notification_outbox', id, jwt_id, state, notification_id, finished_at, acknowledged_at,
            NULL, NULL, NULL, NULL FROM notification_outbox WHERE stream_id IN (SELECT id FROM s)
        UNION ALL SELECT 'notifications', id, state, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM notifications WHERE id IN (SELECT id FROM n)
        UNION ALL SELECT 'deliveries', notification_id, sink, state, lease, attempts, next_attempt_at, NULL, NULL, NULL,
            NULL FROM deliveries WHERE notification_id IN (SELECT id FROM n)
        """

    /// The rows of a query as texts.
    private func read(_ sql: String, _ argument: String? = nil) -> [String] {
        var (connection, statement): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(connection)
        }
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
        else { return [] }
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        if let argument { sqlite3_bind_text(statement, 1, argument, -1, copying) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let columns = (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "-"
            }
            rows.append(columns.joined(separator: "|"))
        }
        return rows
    }
}

import StarwatchCore

/// What work for accounts has written, to see whether something is written for those that an owner has now.
struct LeasedRows {
    private let database: RawDatabase
    /// The stored forms of the accounts, as a JSON array.
    private let forms: String
    private let rows: Set<String>

    /// The number of accounts.
    let count: Int

    /// - Parameters:
    ///   - database: Open as long as the rows are compared.
    ///   - owners: The owners of the accounts.
    ///   - end: A time that their leases last beyond.
    init(in database: RawDatabase, of owners: Set<String>, until end: Timestamp) {
        let query = "SELECT account, owner FROM leases WHERE owner IS NOT NULL AND due_at > \(end.milliseconds)"
        let leases = database.rows(query).map { $0.split(separator: "|").map(String.init) }
        let accounts = leases.filter { owners.contains($0[1]) }.map { $0[0] }
        self.database = database
        count = accounts.count
        forms = "[" + accounts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        rows = Set(database.rows(Self.query, forms))
    }

    /// A row of these accounts that was added or changed since; `nil` if none was.
    func changed() -> String? {
        // What retention deletes is missing.
        database.rows(Self.query, forms).first { !rows.contains($0) }
    }

    /// What work for accounts writes, without the values that a change of keys writes again.
    private static let query = """
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
}

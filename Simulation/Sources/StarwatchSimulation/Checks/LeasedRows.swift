/// What work for accounts has written, to see whether something is written for those that were taken over.
struct LeasedRows {
    private let database: RawDatabase
    /// The stored forms of the accounts.
    private let accounts: Set<String>
    private let rows: Set<String>

    /// The number of accounts.
    var count: Int { accounts.count }

    /// - Parameter database: Open as long as the rows are compared.
    init(in database: RawDatabase, of accounts: Set<String>) {
        (self.database, self.accounts) = (database, accounts)
        rows = Set(database.rows(Self.query, Self.array(accounts)))
    }

    /// A row of these accounts that was added or changed since; `nil` if none was.
    ///
    /// - Parameter others: Accounts that have been claimed since, so that their rows can change.
    func changed(except others: Set<String> = []) -> String? {
        // What retention deletes is missing.
        database.rows(Self.query, Self.array(accounts.subtracting(others))).first { !rows.contains($0) }
    }

    private static func array(_ accounts: Set<String>) -> String {
        "[" + accounts.sorted().map { "\"\($0)\"" }.joined(separator: ",") + "]"
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

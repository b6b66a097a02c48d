/// The tables of the newest version.
///
/// A new database gets these statements, because the migrations from version 1 on take four times as long. A migration uses
/// the same text for tables and indexes that no later migration changes. Before you change such a text, copy the old one into the
/// migration. `HostDatabaseTests` compares new and migrated databases.
///
/// Times are in epoch milliseconds. Names follow the requirements where those define one.
///
/// The partial indexes contain only unfinished rows, so that the cost of counts and ages depends on the open rows. SQLite
/// uses a partial index only if the query repeats a term of its `WHERE`, hence the `OR` and ``Schema/isOpen``. Updates by
/// row id write `+state`, because the planner would otherwise use the index on the state.
extension Schema {
    static let tables =
        identity + polls + requestWindows + outbox + delivery + actions + stories + quarantine + feed
        + ledgerTotals + ledgerSamples + digests + host + keys + rest

    /// The rows of a new database, but for its installation.
    static let firstRows = """
        INSERT INTO active_identity (id) VALUES (1);
        INSERT INTO ledger_totals VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        INSERT INTO ledger_samples VALUES (0, 0, 0, 0, 0);

        """

    /// The condition of `idx_outbox_open`, for queries that name several states.
    static let isOpen =
        "(state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted')"

    /// The condition of rows that were cancelled with an identity that has returned. The server sends them again, and
    /// no sink has them. Rows that an operator discarded or a sink accepted still have a notification. Rows skipped by
    /// the bootstrap after the return are not above the watermark.
    static let isOpenAgain = """
        (state = 'cancelled' AND notification_id IS NULL AND reason IS NULL AND jwt_id > coalesce((SELECT w.watermark
            FROM streams s JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll
            WHERE s.id = notification_outbox.stream_id), ''))
        """

    private static let identity = """
        CREATE TABLE settings (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            accountDid TEXT NOT NULL UNIQUE,
            apiServer TEXT NOT NULL DEFAULT 'https://api.endorser.ch',
            starredPlanHandleIds TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(starredPlanHandleIds)),
            starsSeeded INTEGER NOT NULL DEFAULT 0 CHECK (starsSeeded IN (0, 1)),
            lastAckedStarredPlanChangesJwtId TEXT,
            lastAckedTimestamp INTEGER,
            notificationPreferences TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(notificationPreferences)),
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX idx_settings_updated ON settings (updated_at);

        CREATE TABLE active_identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            activeDid TEXT REFERENCES settings (accountDid),
            generation INTEGER NOT NULL DEFAULT 0 CHECK (generation >= 0),
            lastUpdated INTEGER
        ) STRICT;

        CREATE TABLE starred_archive (
            id INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            plan_ids TEXT NOT NULL CHECK (json_valid(plan_ids)),
            archived_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX idx_starred_archive ON starred_archive (account, archived_at);

        """

    /// Log lines, and the identity of this database.
    private static let rest = """
        CREATE TABLE log_entries (
            id INTEGER PRIMARY KEY,
            created_at INTEGER NOT NULL,
            line TEXT NOT NULL,
            level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3),
            run_id TEXT
        ) STRICT;
        CREATE INDEX idx_log_level ON log_entries (level, id);

        CREATE TABLE installation (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            instance_id TEXT NOT NULL,
            installation_key BLOB NOT NULL CHECK (length(installation_key) = 32)
        ) STRICT;

        """
}

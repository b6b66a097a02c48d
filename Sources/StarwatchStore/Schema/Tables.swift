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
enum Tables {
    static let all =
        identity + polls + requestWindows + outbox + delivery + actions + stories + history + quarantine + lists + feed
        + ledgerTotals + ledgerSamples + digests + digestProgress + host + keys + keysOfAccounts + journal + rest
        + accounts

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

    /// Polls: what each of them asks for next, how far it was delivered, and how it ended.
    ///
    /// `refused_pages` counts the rejected pages since the last accepted one. A poll has seen every change with an
    /// identifier before `seen_until`, by the server's clock, but for late ones. `last_new` is the end of its last cycle with
    /// news, by the local clock. `not_before_set` of a server is the beginning of its wait, by the clock of that time.
    static let polls = """
        CREATE TABLE streams (
            id INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            poll TEXT NOT NULL,
            fetch_cursor TEXT CHECK (length(fetch_cursor) = 26),
            bootstrapped_at INTEGER,
            walk_top TEXT,
            walk_before TEXT,
            walk_after TEXT,
            last_attempt INTEGER,
            last_success INTEGER,
            last_outcome TEXT,
            next_run INTEGER,
            last_notified_at INTEGER,
            refused_pages INTEGER NOT NULL DEFAULT 0,
            seen_until INTEGER,
            last_new INTEGER,
            UNIQUE (account, server, poll),
            CHECK ((walk_top IS NULL) = (walk_before IS NULL))
        ) STRICT;

        CREATE TABLE watermarks (
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            poll TEXT NOT NULL,
            watermark TEXT CHECK (length(watermark) = 26),
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (account, server, poll)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE servers (
            server TEXT PRIMARY KEY,
            dialect TEXT CHECK (dialect IN ('canonical', 'endorser')),
            acknowledges INTEGER CHECK (acknowledges IN (0, 1)),
            not_before INTEGER,
            not_before_set INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE history (
            id INTEGER PRIMARY KEY,
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            run_id TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            new_rows INTEGER NOT NULL,
            reason TEXT
        ) STRICT;
        CREATE INDEX idx_history_stream ON history (stream_id, finished_at);
        CREATE INDEX idx_history_finished ON history (finished_at);

        CREATE TABLE ledger (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            fetched INTEGER NOT NULL DEFAULT 0, new INTEGER NOT NULL DEFAULT 0,
            duplicate INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0, suppressed INTEGER NOT NULL DEFAULT 0,
            evicted INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        """

    /// The account's share of the rate limits, even without a stream.
    static let requestWindows = """
        CREATE TABLE request_windows (
            account TEXT PRIMARY KEY,
            window BLOB NOT NULL,
            spent_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        """

    /// The keys of an encrypted database.
    ///
    /// `sealing` has a row if the database is encrypted. `data_keys.account` and every other account are then keyed
    /// hashes, whose DIDs `sealed_accounts` holds. A row of `signing_keys` outlives its secret, so that its `kid` is never
    /// used again; `can_sign` is 0 for a former key that an emergency replaced.
    /// `AUTOINCREMENT` keeps the id of a destroyed key from being used again.
    static let keys = """
        CREATE TABLE sealing (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            master_key TEXT NOT NULL CHECK (length(master_key) = 16),
            state TEXT NOT NULL CHECK (state IN ('sealed', 'cleaning')),
            changed_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE data_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            purpose TEXT NOT NULL CHECK (purpose IN ('data', 'lookup', 'installation')),
            account TEXT,
            wrapped BLOB NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'retiring')),
            uses INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE sealed_accounts (
            account TEXT PRIMARY KEY,
            did TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signing_keys (
            kid TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            algorithm TEXT NOT NULL CHECK (algorithm IN ('HS256', 'ES256K')),
            secret BLOB,
            state TEXT NOT NULL CHECK (state IN ('active', 'retiring', 'revoked')),
            can_sign INTEGER NOT NULL CHECK (can_sign IN (0, 1)),
            created_at INTEGER NOT NULL,
            ends_at INTEGER,
            CHECK ((ends_at IS NULL) = (state = 'active')),
            CHECK ((secret IS NULL) = (state = 'revoked'))
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX idx_signing_keys_active ON signing_keys (account) WHERE state = 'active';

        """

    /// Finds the keys of one among many accounts.
    static let keysOfAccounts = """
        CREATE INDEX idx_data_keys_account ON data_keys (account);

        """

    /// The journal: what operators did, reloads, and ends of runs. It names no person that the agent works for.
    static let journal = """
        CREATE TABLE journal (
            id INTEGER PRIMARY KEY,
            created_at INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('action', 'reload', 'run_end')),
            actor TEXT NOT NULL,
            verb TEXT,
            target TEXT,
            result TEXT NOT NULL,
            detail TEXT
        ) STRICT;
        CREATE INDEX idx_journal_created ON journal (created_at);

        """

    /// Data of host applications, accounts marked for deletion, and notices of new features.
    ///
    /// A schedule is stored as data only. Its code returns when the host schedules the same name again.
    static let host = """
        CREATE TABLE poll_schedules (
            schedule_id TEXT PRIMARY KEY,
            config_json TEXT NOT NULL CHECK (json_valid(config_json)),
            next_run INTEGER,
            last_attempt INTEGER,
            last_success INTEGER,
            failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
            last_error TEXT,
            validator_url TEXT,
            etag TEXT,
            last_modified TEXT,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE host_watermarks (
            key TEXT PRIMARY KEY,
            watermark TEXT NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE removed_accounts (
            account TEXT PRIMARY KEY,
            removed_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE feature_introductions (
            feature TEXT PRIMARY KEY,
            introduced_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE feature_notices (
            account TEXT NOT NULL,
            feature TEXT NOT NULL REFERENCES feature_introductions (feature),
            token TEXT NOT NULL UNIQUE,
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            PRIMARY KEY (account, feature)
        ) STRICT, WITHOUT ROWID;

        """
}

extension Schema {
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

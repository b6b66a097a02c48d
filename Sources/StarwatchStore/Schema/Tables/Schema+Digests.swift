extension Schema {
    /// Digests: armed texts, content with its source, and queued callback events.
    ///
    /// The table of occurrences is created again, because SQLite cannot change the check of its status.
    static let digests = """
        ALTER TABLE notif_contents ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE notif_contents ADD COLUMN validated_at INTEGER;
        CREATE INDEX notif_idx_contents_slot_time ON notif_contents (slot_id, fetched_at DESC);
        CREATE INDEX notif_idx_contents_source ON notif_contents (account, source, fetched_at DESC);

        ALTER TABLE notif_deliveries RENAME TO notif_deliveries_1;
        CREATE TABLE notif_deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            slot_id TEXT NOT NULL,
            fire_at INTEGER NOT NULL,
            delivered_at INTEGER,
            status TEXT NOT NULL CHECK (status IN ('scheduled', 'shown', 'skipped', 'skipped_stale', 'error')),
            error_code TEXT,
            error_message TEXT,
            digest TEXT,
            token TEXT,
            prefetch TEXT NOT NULL DEFAULT 'none' CHECK (prefetch IN ('none', 'started', 'succeeded', 'failed')),
            text_kind TEXT CHECK (text_kind IN ('fresh', 'cached', 'fallback')),
            content_at INTEGER,
            fingerprint INTEGER,
            title TEXT,
            body TEXT,
            payload BLOB,
            fired_at INTEGER,
            UNIQUE (account, slot_id, fire_at)
        ) STRICT;
        INSERT INTO notif_deliveries
            (id, account, slot_id, fire_at, delivered_at, status, error_code, error_message)
        SELECT id, account, slot_id, fire_at, delivered_at, status, error_code, error_message FROM notif_deliveries_1;
        DROP TABLE notif_deliveries_1;
        CREATE INDEX notif_idx_deliveries_open ON notif_deliveries (account) WHERE status = 'scheduled';

        CREATE TABLE notif_config (
            k TEXT PRIMARY KEY,
            v TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE event_queue (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('delivery', 'error', 'heartbeat', 'config_updated')),
            payload_json TEXT NOT NULL CHECK (json_valid(payload_json)),
            created_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_at INTEGER NOT NULL
        ) STRICT;

        """
}

extension Schema {
    /// Digests: content with its source, armed texts, their state, and queued callback events.
    static let digests = contents + occurrences + digestState

    private static let contents = """
        CREATE TABLE notif_contents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            slot_id TEXT NOT NULL,
            payload_json TEXT NOT NULL,
            fetched_at INTEGER NOT NULL,
            etag TEXT,
            source TEXT NOT NULL DEFAULT '',
            validated_at INTEGER,
            UNIQUE (account, slot_id, fetched_at)
        ) STRICT;

        """ + contentIndexes

    static let contentIndexes = """
        CREATE INDEX notif_idx_contents_slot_time ON notif_contents (slot_id, fetched_at DESC);
        CREATE INDEX notif_idx_contents_source ON notif_contents (account, source, fetched_at DESC);

        """

    static let occurrences = """
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
        CREATE INDEX notif_idx_deliveries_open ON notif_deliveries (account) WHERE status = 'scheduled';

        """

    /// Values by name (``DigestConfigurationKey``), and the events that wait for callbacks.
    static let digestState = """
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

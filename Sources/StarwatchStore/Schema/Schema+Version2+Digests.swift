extension Schema {
    /// Digests: what is armed, what was fetched and for which request, and what callbacks are still to be told.
    static let digests = """
        ALTER TABLE notif_contents ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE notif_contents ADD COLUMN validated_at INTEGER;
        CREATE INDEX notif_idx_contents_slot_time ON notif_contents (slot_id, fetched_at DESC);
        CREATE INDEX notif_idx_contents_source ON notif_contents (account, source, fetched_at DESC);

        ALTER TABLE notif_deliveries ADD COLUMN digest TEXT;
        ALTER TABLE notif_deliveries ADD COLUMN token TEXT;
        ALTER TABLE notif_deliveries ADD COLUMN prefetch TEXT NOT NULL DEFAULT 'none'
            CHECK (prefetch IN ('none', 'started', 'succeeded', 'failed'));
        ALTER TABLE notif_deliveries ADD COLUMN text_kind TEXT CHECK (text_kind IN ('fresh', 'cached', 'fallback'));
        ALTER TABLE notif_deliveries ADD COLUMN content_at INTEGER;
        ALTER TABLE notif_deliveries ADD COLUMN fingerprint INTEGER;
        ALTER TABLE notif_deliveries ADD COLUMN title TEXT;
        ALTER TABLE notif_deliveries ADD COLUMN body TEXT;
        ALTER TABLE notif_deliveries ADD COLUMN payload BLOB;
        ALTER TABLE notif_deliveries ADD COLUMN fired_at INTEGER;
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

extension Tables {
    /// Notifications, and what each sink answered.
    static let delivery = notifications + deliveries

    private static let notifications = """
        CREATE TABLE notifications (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            token TEXT NOT NULL UNIQUE,
            stream_id INTEGER NOT NULL REFERENCES streams (id),
            state TEXT NOT NULL CHECK (state IN ('open', 'delivered', 'dead', 'cancelled', 'released')),
            kind TEXT NOT NULL,
            row_count INTEGER NOT NULL CHECK (row_count > 0),
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            payload BLOB NOT NULL,
            run_id TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            repeats TEXT,
            CHECK ((finished_at IS NULL) = (state = 'open'))
        ) STRICT;
        CREATE INDEX idx_notifications_open ON notifications (stream_id) WHERE state = 'open';
        CREATE INDEX idx_notifications_finished ON notifications (finished_at) WHERE state <> 'open';
        CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;

        """

    /// The result of each sink, and the reason for its last failure: a ``FailureReason`` as text; NULL if it has not
    /// failed, or only before version 3. `carried_by` is the token of the notification that brings this one to the sink,
    /// together with others; NULL if it goes alone. `is_held` tells whether only the hours of the sink put off the next
    /// attempt.
    static let deliveries = """
        CREATE TABLE deliveries (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            sink TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'ok', 'rejected', 'given_up', 'gone', 'cancelled')),
            lease INTEGER NOT NULL DEFAULT 0,
            leased_until INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            rejections INTEGER NOT NULL DEFAULT 0,
            due_since INTEGER NOT NULL,
            next_attempt_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            reason TEXT,
            carried_by TEXT,
            is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1)),
            PRIMARY KEY (notification_id, sink)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
        CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');

        """ + carriedDeliveries

    static let carriedDeliveries = """
        CREATE INDEX idx_deliveries_carried ON deliveries (carried_by) WHERE carried_by IS NOT NULL;

        """

    /// Actions on notifications, their shortlinks, and notices of stale polls.
    static let actions = """
        CREATE TABLE shortlinks (
            token TEXT PRIMARY KEY,
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            targets TEXT NOT NULL CHECK (json_valid(targets)),
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_shortlinks_notification ON shortlinks (notification_id);
        CREATE INDEX idx_shortlinks_expiry ON shortlinks (expires_at);

        CREATE TABLE notification_actions (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            action TEXT NOT NULL
                CHECK (action IN ('view_updates', 'view_project', 'dismiss', 'snooze_1h', 'mark_read')),
            done_at INTEGER NOT NULL,
            repetition TEXT CHECK ((repetition IS NOT NULL) = (action = 'snooze_1h')),
            PRIMARY KEY (notification_id, action)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE staleness_notices (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX idx_staleness_notification ON staleness_notices (notification_id);

        """

    /// The feeds of accounts. `latest` is the last sequence of a feed. Sequences never repeat, even after deletions, so that
    /// followers can continue from their position. Erasing an account deletes its row. The next active identity then continues from
    /// the largest `feed.id`, which never repeats and is at least the sequence that the agent gave with it.
    ///
    /// `feeds.token` is a keyed hash of the token in the feed's address; an agent for one account has that in a file instead.
    static let feed = """
        CREATE TABLE feeds (
            account TEXT PRIMARY KEY,
            latest INTEGER NOT NULL DEFAULT 0,
            token TEXT UNIQUE,
            sealed_token TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE feed (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            token TEXT NOT NULL UNIQUE,
            payload BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            UNIQUE (account, sequence)
        ) STRICT;
        CREATE INDEX idx_feed_created ON feed (created_at);

        """

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

    /// Values by name (``DigestRows``), and the events that wait for callbacks.
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

    /// The time up to which the occurrences of an account's digest are armed.
    static let digestProgress = """
        CREATE TABLE digest_progress (
            account TEXT NOT NULL,
            digest TEXT NOT NULL,
            armed_through INTEGER NOT NULL,
            PRIMARY KEY (account, digest)
        ) STRICT, WITHOUT ROWID;

        """
}

extension Schema {
    /// The tables of version 1. Times are in epoch milliseconds. Names follow the requirements where those define one.
    ///
    /// The partial indexes contain only unfinished rows, so that the cost of counts and ages depends on the open rows.
    /// SQLite uses a partial index only if the query repeats a term of its `WHERE`, hence the `OR` and
    /// ``Schema/isOpen``. Updates by row id write `+state`, because the planner would otherwise use the index on the
    /// state.
    static let version1 = identity + polls + outbox + delivery + rest

    /// The condition of `idx_outbox_open`, for queries that name several states.
    static let isOpen =
        "(state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted')"

    /// The condition of rows that were cancelled with an identity that has returned. The server sends them again, and
    /// no sink has them. Rows that an operator discarded or a sink accepted still have a notification. Rows skipped by
    /// the bootstrap after the return are not above the watermark.
    static let isOpenAgain = """
        (state = 'cancelled' AND notification_id IS NULL AND jwt_id > coalesce((SELECT w.watermark
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
        INSERT INTO active_identity (id) VALUES (1);

        CREATE TABLE starred_archive (
            id INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            plan_ids TEXT NOT NULL CHECK (json_valid(plan_ids)),
            archived_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX idx_starred_archive ON starred_archive (account, archived_at);

        """

    private static let polls = """
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
            request_window BLOB,
            window_at INTEGER,
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

        CREATE TABLE ledger (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            fetched INTEGER NOT NULL DEFAULT 0, new INTEGER NOT NULL DEFAULT 0,
            duplicate INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0, suppressed INTEGER NOT NULL DEFAULT 0,
            evicted INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE servers (
            server TEXT PRIMARY KEY,
            dialect TEXT CHECK (dialect IN ('canonical', 'endorser')),
            acknowledges INTEGER CHECK (acknowledges IN (0, 1)),
            not_before INTEGER
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

        """

    private static let outbox = """
        CREATE TABLE notification_outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL REFERENCES streams (id),
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            plan_id TEXT NOT NULL,
            name TEXT,
            origin TEXT NOT NULL DEFAULT 'poll' CHECK (origin IN ('poll', 'bootstrap')),
            state TEXT NOT NULL CHECK (state IN ('pending', 'claimed', 'delivered', 'acknowledged', 'dead',
                'cancelled', 'suppressed', 'evicted')),
            priority INTEGER NOT NULL DEFAULT 0,
            retry_count INTEGER NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
            notification_id INTEGER,
            run_id TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            delivered_at INTEGER,
            acknowledged_at INTEGER,
            finished_at INTEGER,
            UNIQUE (stream_id, jwt_id),
            CHECK (state <> 'claimed' OR notification_id IS NOT NULL),
            CHECK ((finished_at IS NULL) = (state IN ('pending', 'claimed', 'delivered'))),
            CHECK (state NOT IN ('delivered', 'acknowledged') OR delivered_at IS NOT NULL),
            CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
            CHECK (origin = 'poll' OR state = 'suppressed')
        ) STRICT;
        CREATE INDEX idx_outbox_priority ON notification_outbox
            (stream_id, priority DESC, created_at, jwt_id) WHERE state = 'pending';
        CREATE INDEX idx_outbox_open ON notification_outbox (state, stream_id, jwt_id)
            WHERE state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted';
        CREATE INDEX idx_outbox_age ON notification_outbox (state, stream_id, created_at)
            WHERE state = 'pending' OR state = 'claimed';
        CREATE INDEX idx_outbox_unacknowledged ON notification_outbox (stream_id, jwt_id)
            WHERE state = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll';

        CREATE TABLE ack_batches (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL UNIQUE REFERENCES streams (id) ON DELETE CASCADE,
            idempotency_key TEXT NOT NULL UNIQUE,
            row_ids TEXT NOT NULL CHECK (json_valid(row_ids)),
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;

        """

    private static let delivery = """
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
            CHECK ((finished_at IS NULL) = (state = 'open'))
        ) STRICT;
        CREATE INDEX idx_notifications_open ON notifications (stream_id) WHERE state = 'open';
        CREATE INDEX idx_notifications_finished ON notifications (finished_at) WHERE state <> 'open';

        CREATE TABLE deliveries (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            sink TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'ok', 'rejected', 'gone', 'cancelled')),
            lease INTEGER NOT NULL DEFAULT 0,
            leased_until INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            rejections INTEGER NOT NULL DEFAULT 0,
            next_attempt_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (notification_id, sink)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';

        """

    private static let rest = """
        CREATE TABLE notif_contents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            slot_id TEXT NOT NULL,
            payload_json TEXT NOT NULL,
            fetched_at INTEGER NOT NULL,
            etag TEXT,
            UNIQUE (account, slot_id, fetched_at)
        ) STRICT;
        CREATE TABLE notif_deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL,
            slot_id TEXT NOT NULL,
            fire_at INTEGER NOT NULL,
            delivered_at INTEGER,
            status TEXT NOT NULL CHECK (status IN ('scheduled', 'shown', 'skipped_stale', 'error')),
            error_code TEXT,
            error_message TEXT,
            UNIQUE (account, slot_id, fire_at)
        ) STRICT;

        CREATE TABLE log_entries (
            id INTEGER PRIMARY KEY,
            created_at INTEGER NOT NULL,
            is_error INTEGER NOT NULL CHECK (is_error IN (0, 1)),
            line TEXT NOT NULL
        ) STRICT;
        CREATE INDEX idx_log_ordinary ON log_entries (id) WHERE is_error = 0;

        CREATE TABLE installation (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            instance_id TEXT NOT NULL,
            installation_key BLOB NOT NULL CHECK (length(installation_key) = 32)
        ) STRICT;
        """
}

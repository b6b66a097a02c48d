extension Schema {
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
    /// failed, or only before version 3.
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
            PRIMARY KEY (notification_id, sink)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
        CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');

        """

    /// The condition of `idx_deliveries_lost`.
    static let isLost = "state IN ('rejected', 'given_up')"
}

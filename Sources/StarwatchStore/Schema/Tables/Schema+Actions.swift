extension Schema {
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
}

extension Schema {
    /// Actions on notifications, shortlinks, and the changed fields of rows.
    static let notificationsOfVersion2 = """
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

        ALTER TABLE notifications ADD COLUMN repeats TEXT;
        CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;

        ALTER TABLE notification_outbox ADD COLUMN changed_fields TEXT
            CHECK (changed_fields IS NULL OR json_valid(changed_fields));

        CREATE TABLE plan_snapshots (
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            plan_id TEXT NOT NULL,
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            fields TEXT NOT NULL CHECK (json_valid(fields)),
            PRIMARY KEY (account, server, plan_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE staleness_notices (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX idx_staleness_notification ON staleness_notices (notification_id);

        """
}

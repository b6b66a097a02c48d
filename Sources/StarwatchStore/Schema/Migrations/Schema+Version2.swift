extension Schema {
    /// The changes of version 2, one constant for each area.
    static let version2 =
        windows + columns + snapshots + occurrencesAgain + digestState + contentIndexes + actions + feed + host

    /// The account's share of the rate limits. All streams of an account had the same window, except those that are newer
    /// than its last request.
    private static let windows =
        requestWindows + """
            INSERT INTO request_windows (account, window, spent_at)
                SELECT account, request_window, max(last_attempt) FROM streams
                WHERE request_window IS NOT NULL AND last_attempt IS NOT NULL GROUP BY account;
            ALTER TABLE streams DROP COLUMN request_window;
            ALTER TABLE streams DROP COLUMN window_at;

            """

    private static let columns = """
        ALTER TABLE servers ADD COLUMN not_before_set INTEGER;
        ALTER TABLE ack_batches ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notif_contents ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE notif_contents ADD COLUMN validated_at INTEGER;
        ALTER TABLE notifications ADD COLUMN repeats TEXT;
        CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;
        ALTER TABLE notification_outbox ADD COLUMN changed_fields TEXT
            CHECK (changed_fields IS NULL OR json_valid(changed_fields));

        """

    private static let snapshots = """
        CREATE TABLE plan_snapshots (
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            plan_id TEXT NOT NULL,
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            fields TEXT NOT NULL CHECK (json_valid(fields)),
            PRIMARY KEY (account, server, plan_id)
        ) STRICT, WITHOUT ROWID;

        """

    /// The table of a digest's occurrences is created again, because SQLite cannot change the check of its status.
    private static let occurrencesAgain = """
        ALTER TABLE notif_deliveries RENAME TO notif_deliveries_1;
        \(occurrences)
        INSERT INTO notif_deliveries
            (id, account, slot_id, fire_at, delivered_at, status, error_code, error_message)
        SELECT id, account, slot_id, fire_at, delivered_at, status, error_code, error_message FROM notif_deliveries_1;
        DROP TABLE notif_deliveries_1;

        """
}

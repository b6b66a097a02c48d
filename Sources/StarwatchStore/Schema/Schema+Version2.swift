extension Schema {
    /// What version 2 changes.
    static let version2 = windows + waits + refusals + feed + digests + host + notificationsOfVersion2

    /// What an account has spent of the rate limits, whether or not it has a stream. All of an account's streams had the
    /// same, but those that are newer than its last request.
    private static let windows = """
        CREATE TABLE request_windows (
            account TEXT PRIMARY KEY,
            window BLOB NOT NULL,
            spent_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO request_windows (account, window, spent_at)
            SELECT account, request_window, max(last_attempt) FROM streams
            WHERE request_window IS NOT NULL AND last_attempt IS NOT NULL GROUP BY account;
        ALTER TABLE streams DROP COLUMN request_window;
        ALTER TABLE streams DROP COLUMN window_at;

        """

    /// When it was asked to wait, by the clock of that time.
    private static let waits = """
        ALTER TABLE servers ADD COLUMN not_before_set INTEGER;

        """

    /// How often the server refused a batch: a broken way to it says nothing of what it would take.
    private static let refusals = """
        ALTER TABLE ack_batches ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

        """
}

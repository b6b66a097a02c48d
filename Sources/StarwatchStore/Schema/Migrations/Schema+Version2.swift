extension Schema {
    /// The changes of version 2.
    static let version2 = windows + waits + refusals + feed + digests + host + notificationsOfVersion2

    /// The account's share of the rate limits, even without a stream. All streams of an account had the same window,
    /// except those that are newer than its last request.
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

    /// The beginning of the server's wait, by the clock of that time.
    private static let waits = """
        ALTER TABLE servers ADD COLUMN not_before_set INTEGER;

        """

    /// The number of refusals of a batch. Connection failures say nothing about the batch, so they count separately.
    private static let refusals = """
        ALTER TABLE ack_batches ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

        """
}

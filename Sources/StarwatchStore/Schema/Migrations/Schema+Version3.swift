extension Schema {
    /// The changes of version 3, one constant for each area.
    static let version3 = sinkResults + quarantine + stories + columns + logLevels + ledgerTotals + sums

    /// Sinks that are given up: their result `given_up`, and the time since which a sink has been due.
    ///
    /// The table of deliveries is created again, because SQLite cannot change the check of its state. A sink of an older
    /// notification has been due since its creation.
    private static let sinkResults = """
        ALTER TABLE deliveries RENAME TO deliveries_2;
        DROP INDEX idx_deliveries_finished;
        \(deliveries)
        INSERT INTO deliveries (notification_id, sink, state, lease, leased_until, attempts, rejections, due_since,
            next_attempt_at, updated_at)
        SELECT d.notification_id, d.sink, d.state, d.lease, d.leased_until, d.attempts, d.rejections, n.created_at,
            d.next_attempt_at, d.updated_at
        FROM deliveries_2 d JOIN notifications n ON n.id = d.notification_id;
        DROP TABLE deliveries_2;

        """

    /// The requests in the story of a change.
    private static let columns = """
        ALTER TABLE notification_outbox ADD COLUMN fetch_id INTEGER;
        ALTER TABLE notification_outbox ADD COLUMN ack_request_id TEXT;

        """

    /// The level and the run of a log line.
    private static let logLevels = """
        ALTER TABLE log_entries ADD COLUMN level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3);
        ALTER TABLE log_entries ADD COLUMN run_id TEXT;
        UPDATE log_entries SET level = CASE WHEN is_error = 1 THEN 3 WHEN line LIKE '%"level":"WARN"%' THEN 2 ELSE 1 END;
        DROP INDEX idx_log_ordinary;
        ALTER TABLE log_entries DROP COLUMN is_error;
        CREATE INDEX idx_log_level ON log_entries (level, id);

        """

    /// The sums of the existing ledgers.
    private static let sums = """
        INSERT INTO ledger_totals SELECT 1, coalesce(sum(fetched), 0), coalesce(sum(new), 0),
            coalesce(sum(duplicate), 0), coalesce(sum(rejected), 0), coalesce(sum(delivered), 0),
            coalesce(sum(dead), 0), coalesce(sum(cancelled), 0), coalesce(sum(suppressed), 0),
            coalesce(sum(evicted), 0), coalesce(sum(acknowledged), 0) FROM ledger;

        """
}

extension Schema {
    /// Sinks that are given up: their result `given_up`, and the time since which a sink has been due.
    ///
    /// The table of deliveries is created again, because SQLite cannot change the check of its state. Statements that
    /// add columns to it come after this one. A sink of an older notification has been due since its creation.
    static let sinkResults = """
        ALTER TABLE deliveries RENAME TO deliveries_2;
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
            PRIMARY KEY (notification_id, sink)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO deliveries (notification_id, sink, state, lease, leased_until, attempts, rejections, due_since,
            next_attempt_at, updated_at)
        SELECT d.notification_id, d.sink, d.state, d.lease, d.leased_until, d.attempts, d.rejections, n.created_at,
            d.next_attempt_at, d.updated_at
        FROM deliveries_2 d JOIN notifications n ON n.id = d.notification_id;
        DROP TABLE deliveries_2;
        CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
        CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');

        """

    /// The condition of `idx_deliveries_lost`.
    static let isLost = "state IN ('rejected', 'given_up')"
}

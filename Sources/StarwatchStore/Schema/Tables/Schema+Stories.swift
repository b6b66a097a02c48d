extension Schema {
    /// The story of each change: the request that brought it, every answer of a sink, its acknowledgement, and the moves
    /// of the watermark.
    ///
    /// A page is one row, whatever the number of its changes. `page_fetches` has no foreign key, because its rows expire
    /// before those of quiet streams; an id is never reused.
    static let stories = """
        CREATE TABLE page_fetches (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id TEXT NOT NULL,
            page INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            server_request_id TEXT,
            asked_at INTEGER NOT NULL,
            answered_at INTEGER NOT NULL,
            tries INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE delivery_attempts (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            sink TEXT NOT NULL,
            number INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL,
            result TEXT NOT NULL CHECK (result IN ('ok', 'rejected', 'unavailable', 'timeout', 'gone')),
            reason TEXT,
            next_attempt_at INTEGER,
            PRIMARY KEY (notification_id, sink, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE watermark_moves (
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            watermark TEXT NOT NULL CHECK (length(watermark) = 26),
            moved_at INTEGER NOT NULL,
            PRIMARY KEY (stream_id, watermark)
        ) STRICT, WITHOUT ROWID;

        """
}

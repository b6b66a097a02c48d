extension Schema {
    /// Polls: what each of them asks for next, how far it was delivered, and how it ended.
    ///
    /// `refused_pages` counts the rejected pages since the last accepted one. A poll has seen every change with an
    /// identifier before `seen_until`, by the server's clock, but for late ones. `not_before_set` of a server is the beginning of its wait, by the clock of that time.
    static let polls = """
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
            refused_pages INTEGER NOT NULL DEFAULT 0,
            seen_until INTEGER,
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

        CREATE TABLE servers (
            server TEXT PRIMARY KEY,
            dialect TEXT CHECK (dialect IN ('canonical', 'endorser')),
            acknowledges INTEGER CHECK (acknowledges IN (0, 1)),
            not_before INTEGER,
            not_before_set INTEGER
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

        CREATE TABLE ledger (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            fetched INTEGER NOT NULL DEFAULT 0, new INTEGER NOT NULL DEFAULT 0,
            duplicate INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
            cancelled INTEGER NOT NULL DEFAULT 0, suppressed INTEGER NOT NULL DEFAULT 0,
            evicted INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        """

    /// The account's share of the rate limits, even without a stream.
    static let requestWindows = """
        CREATE TABLE request_windows (
            account TEXT PRIMARY KEY,
            window BLOB NOT NULL,
            spent_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        """
}

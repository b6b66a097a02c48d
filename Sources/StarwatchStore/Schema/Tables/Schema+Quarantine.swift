extension Schema {
    /// The items that were rejected one by one, so that their operator can list them. Nothing of an item is kept but its
    /// identifier, if it is valid, and where its faults are.
    ///
    /// The same item with the same faults is one row, however often the server sends it. A discarded row stays hidden
    /// until the server has not sent its item for a while.
    static let quarantine = """
        CREATE TABLE quarantine (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            fingerprint INTEGER NOT NULL,
            jwt_id TEXT CHECK (length(jwt_id) = 26),
            kind TEXT NOT NULL,
            issues TEXT NOT NULL CHECK (json_valid(issues)),
            page INTEGER NOT NULL CHECK (page > 0),
            run_id TEXT NOT NULL,
            times INTEGER NOT NULL DEFAULT 1,
            created_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL,
            discarded_at INTEGER,
            UNIQUE (stream_id, fingerprint)
        ) STRICT;
        CREATE INDEX idx_quarantine_seen ON quarantine (seen_at);

        """
}

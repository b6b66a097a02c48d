extension Schema {
    /// The feed. Ids never repeat, even after deletions, so that followers can continue from their position.
    static let feed = """
        CREATE TABLE feed (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            token TEXT NOT NULL UNIQUE,
            payload BLOB NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX idx_feed_created ON feed (created_at);

        """
}

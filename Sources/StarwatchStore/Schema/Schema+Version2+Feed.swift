extension Schema {
    /// What the feed keeps. Its ids only rise, also when rows go, so that who follows can say where he was.
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

extension Schema {
    /// The changes of version 7: the rejected pages of a poll in a row, and the reason why a row is not delivered.
    static let version7 = """
        ALTER TABLE streams ADD COLUMN refused_pages INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification_outbox ADD COLUMN reason TEXT;

        """
}

extension Schema {
    /// The change of version 8: how far a poll has seen the server's changes.
    static let version8 = """
        ALTER TABLE streams ADD COLUMN seen_until INTEGER;

        """
}

extension Schema {
    /// The changes of version 7: the rejected pages of a poll in a row, and the reason why a row is not delivered.
    static let version7 = """
        ALTER TABLE streams ADD COLUMN refused_pages INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification_outbox ADD COLUMN reason TEXT;

        """
}

extension Schema {
    /// The reason for the last failure of a notification at a sink: a ``FailureReason`` as text; NULL if it has not
    /// failed, or only before version 3.
    static let failureReasons = """
        ALTER TABLE deliveries ADD COLUMN reason TEXT;

        """
}

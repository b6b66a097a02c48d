extension Schema {
    /// What version 2 changes.
    static let version2 = removals + waits + feed + digests + host + notificationsOfVersion2

    /// A request window holds its own times.
    private static let removals = """
        ALTER TABLE streams DROP COLUMN window_at;

        """

    /// When it was asked to wait, by the clock of that time.
    private static let waits = """
        ALTER TABLE servers ADD COLUMN not_before_set INTEGER;

        """
}

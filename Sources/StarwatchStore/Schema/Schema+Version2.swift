extension Schema {
    /// What version 2 changes.
    static let version2 = removals + feed + digests + host + notificationsOfVersion2

    /// A request window holds its own times.
    private static let removals = """
        ALTER TABLE streams DROP COLUMN window_at;

        """
}

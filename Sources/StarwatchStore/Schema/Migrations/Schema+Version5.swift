extension Schema {
    /// The changes of version 5: the keys of an encrypted database.
    static let version5 =
        keys + """
            ALTER TABLE plan_snapshots ADD COLUMN sealed_plan_id TEXT;

            """
}

extension Tables {
    /// The accounts that the agent serves beside the active identity, their leases, and their moves between agents.
    ///
    /// `accounts` changes seldom, `leases` with each visit. `due_at` of a leased account is the end of its lease. `owner` is
    /// `NULL` when the account is released. An account is in `accounts` or the active identity, never both; the view has
    /// the ones that work can be done for.
    ///
    /// `account_sinks` has the addresses that accounts bring. `gone_at` is when one answered 410. They stay when an account
    /// is removed, until its data is deleted.
    ///
    /// `account_moves` outlives the service of an account. While it is `gone`, `bundle` has what was handed out.
    static let accounts = """
        CREATE TABLE accounts (
            account TEXT PRIMARY KEY REFERENCES settings (accountDid),
            status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
            generation INTEGER NOT NULL CHECK (generation >= 0),
            added_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE leases (
            account TEXT PRIMARY KEY REFERENCES accounts (account) ON DELETE CASCADE,
            due_at INTEGER NOT NULL,
            owner TEXT CHECK (owner <> ''),
            epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
            last_attempt INTEGER,
            last_success INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_leases_due ON leases (due_at);

        CREATE TABLE account_sinks (
            account TEXT NOT NULL,
            sink TEXT NOT NULL,
            address BLOB NOT NULL,
            gone_at INTEGER,
            PRIMARY KEY (account, sink)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE account_moves (
            account TEXT PRIMARY KEY,
            number INTEGER NOT NULL CHECK (number > 0),
            move_id TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('gone', 'here')),
            bundle BLOB,
            moved_at INTEGER NOT NULL,
            CHECK (state = 'gone' OR bundle IS NULL)
        ) STRICT, WITHOUT ROWID;

        CREATE VIEW identities (account, generation) AS
            SELECT activeDid, generation FROM active_identity WHERE id = 1 AND activeDid IS NOT NULL
            UNION ALL SELECT account, generation FROM accounts WHERE status = 'active';

        """
}

extension Schema {
    /// The keys of an encrypted database.
    ///
    /// `sealing` has a row if the database is encrypted. `data_keys.account` and every other account are then keyed
    /// hashes, whose DIDs `sealed_accounts` holds. A row of `signing_keys` outlives its secret, so that its `kid` is never
    /// used again; `can_sign` is 0 for a former key that an emergency replaced.
    /// `AUTOINCREMENT` keeps the id of a destroyed key from being used again.
    static let keys = """
        CREATE TABLE sealing (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            master_key TEXT NOT NULL CHECK (length(master_key) = 16),
            state TEXT NOT NULL CHECK (state IN ('sealed', 'cleaning')),
            changed_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE data_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id BETWEEN 1 AND 16777215),
            purpose TEXT NOT NULL CHECK (purpose IN ('data', 'lookup', 'installation')),
            account TEXT,
            wrapped BLOB NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'retiring')),
            uses INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE sealed_accounts (
            account TEXT PRIMARY KEY,
            did TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signing_keys (
            kid TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            algorithm TEXT NOT NULL CHECK (algorithm IN ('HS256', 'ES256K')),
            secret BLOB,
            state TEXT NOT NULL CHECK (state IN ('active', 'retiring', 'revoked')),
            can_sign INTEGER NOT NULL CHECK (can_sign IN (0, 1)),
            created_at INTEGER NOT NULL,
            ends_at INTEGER,
            CHECK ((ends_at IS NULL) = (state = 'active')),
            CHECK ((secret IS NULL) = (state = 'revoked'))
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX idx_signing_keys_active ON signing_keys (account) WHERE state = 'active';

        """
}

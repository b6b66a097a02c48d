/// The changes from one version of the schema to the next.
extension Schema {
    /// The migrations, and the version that each leads to.
    static let migrations: [(version: Int, statements: String)] = [(10, version10)]

    /// The changes of version 10, one constant for each area.
    static let version10 =
        manyKeys + giftsAndOffers + lists + totalsOfStarts + progressOfAccounts + feedsOfAccounts + Tables.accounts
            + """
            DROP INDEX idx_outbox_age;
            DROP INDEX idx_outbox_priority;
            ALTER TABLE deliveries ADD COLUMN carried_by TEXT;
            ALTER TABLE deliveries ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1));

            """ + Tables.waitingRows + Tables.carriedDeliveries

    /// Keys of many accounts: no largest id, and an index by account. The check is removed from the stored statement, because
    /// SQLite has no other way.
    private static let manyKeys =
        """
        -- In sqlite3 from 3.42: .dbconfig defensive off
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, ' CHECK (id BETWEEN 1 AND 16777215)', '')
            WHERE type = 'table' AND name = 'data_keys';
        PRAGMA writable_schema = RESET;

        """ + Tables.keysOfAccounts

    /// Whether an offer or a gift was made before the poll last ran, and this edits it, and whether a gift honours an offer.
    private static let giftsAndOffers = """
        ALTER TABLE notification_outbox ADD COLUMN is_edition INTEGER NOT NULL DEFAULT 0 CHECK (is_edition IN (0, 1));
        ALTER TABLE notification_outbox ADD COLUMN fulfills_offer INTEGER NOT NULL DEFAULT 0
            CHECK (fulfills_offer IN (0, 1));

        """

    /// The lists of other servers, and what a change of theirs says beside its name.
    private static let lists =
        """
        ALTER TABLE notification_outbox ADD COLUMN details TEXT CHECK (details IS NULL OR json_valid(details));

        """ + Tables.lists

    /// How far the digests of each account are armed. All of it was that of the active identity.
    private static let progressOfAccounts =
        Tables.digestProgress + """
            INSERT INTO digest_progress (account, digest, armed_through)
                SELECT activeDid, substr(k, 15), CAST(v AS INTEGER) FROM notif_config, active_identity
                WHERE substr(k, 1, 14) = 'armed_through:' AND activeDid IS NOT NULL;
            DELETE FROM notif_config WHERE substr(k, 1, 14) = 'armed_through:';

            """

    /// A feed for each account. The only one was that of the active identity.
    private static let feedsOfAccounts = """
        DROP INDEX idx_feed_created;
        ALTER TABLE feed RENAME TO feed_9;
        \(Tables.feed)
        INSERT INTO feeds (account, latest) SELECT activeDid, seq FROM active_identity, sqlite_sequence
            WHERE name = 'feed_9' AND activeDid IS NOT NULL;
        INSERT INTO sqlite_sequence (name, seq) SELECT 'feed', seq FROM sqlite_sequence WHERE name = 'feed_9';
        INSERT INTO feed (id, account, sequence, token, payload, created_at)
            SELECT f.id, activeDid, f.id, f.token, f.payload, f.created_at FROM active_identity, feed_9 f
            WHERE activeDid IS NOT NULL;
        DROP TABLE feed_9;

        """

    /// A row of totals for each start of a process. The trigger would add to the row of no start.
    private static let totalsOfStarts = """
        DROP TRIGGER ledger_rises;
        ALTER TABLE ledger_totals RENAME TO ledger_totals_9;
        \(Tables.ledgerTotals)
        INSERT INTO ledger_totals (start, fetched, new, duplicate, rejected, delivered, dead, cancelled, suppressed,
            evicted, acknowledged)
        SELECT '', fetched, new, duplicate, rejected, delivered, dead, cancelled, suppressed, evicted, acknowledged
        FROM ledger_totals_9;
        DROP TABLE ledger_totals_9;

        """
}

/// The changes from one version of the schema to the next.
enum Migrations {
    /// The migrations, and the version that each leads to.
    static let all: [(version: Int, statements: String)] = [
        (2, version2), (3, version3), (4, version4), (5, version5), (6, version6), (7, version7), (8, version8),
        (9, version9), (10, version10),
    ]

    /// The changes of version 2, one constant for each area.
    static let version2 =
        windows + columnsOf2 + snapshots + occurrencesAgain + Tables.digestState + Tables.contentIndexes
        + Tables.actions + Tables.feed + Tables.host

    /// The account's share of the rate limits. All streams of an account had the same window, except those that are newer
    /// than its last request.
    private static let windows =
        Tables.requestWindows + """
            INSERT INTO request_windows (account, window, spent_at)
                SELECT account, request_window, max(last_attempt) FROM streams
                WHERE request_window IS NOT NULL AND last_attempt IS NOT NULL GROUP BY account;
            ALTER TABLE streams DROP COLUMN request_window;
            ALTER TABLE streams DROP COLUMN window_at;

            """

    private static let columnsOf2 = """
        ALTER TABLE servers ADD COLUMN not_before_set INTEGER;
        ALTER TABLE ack_batches ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notif_contents ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE notif_contents ADD COLUMN validated_at INTEGER;
        ALTER TABLE notifications ADD COLUMN repeats TEXT;
        CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;
        ALTER TABLE notification_outbox ADD COLUMN changed_fields TEXT
            CHECK (changed_fields IS NULL OR json_valid(changed_fields));

        """

    private static let snapshots = """
        CREATE TABLE plan_snapshots (
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            plan_id TEXT NOT NULL,
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            fields TEXT NOT NULL CHECK (json_valid(fields)),
            PRIMARY KEY (account, server, plan_id)
        ) STRICT, WITHOUT ROWID;

        """

    /// The table of a digest's occurrences is created again, because SQLite cannot change the check of its status.
    private static let occurrencesAgain = """
        ALTER TABLE notif_deliveries RENAME TO notif_deliveries_1;
        \(Tables.occurrences)
        INSERT INTO notif_deliveries
            (id, account, slot_id, fire_at, delivered_at, status, error_code, error_message)
        SELECT id, account, slot_id, fire_at, delivered_at, status, error_code, error_message FROM notif_deliveries_1;
        DROP TABLE notif_deliveries_1;

        """

    /// The changes of version 3, one constant for each area.
    static let version3 =
        sinkResults + Tables.quarantine + storiesOf3 + columnsOf3 + logLevels + totalsOf3 + sums

    /// Sinks that are given up: their result `given_up`, and the time since which a sink has been due.
    ///
    /// The table of deliveries is created again, because SQLite cannot change the check of its state. A sink of an older
    /// notification has been due since its creation.
    private static let sinkResults = """
        ALTER TABLE deliveries RENAME TO deliveries_2;
        DROP INDEX idx_deliveries_finished;
        CREATE TABLE deliveries (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            sink TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'ok', 'rejected', 'given_up', 'gone', 'cancelled')),
            lease INTEGER NOT NULL DEFAULT 0,
            leased_until INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            rejections INTEGER NOT NULL DEFAULT 0,
            due_since INTEGER NOT NULL,
            next_attempt_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            reason TEXT,
            PRIMARY KEY (notification_id, sink)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
        CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');
        INSERT INTO deliveries (notification_id, sink, state, lease, leased_until, attempts, rejections, due_since,
            next_attempt_at, updated_at)
        SELECT d.notification_id, d.sink, d.state, d.lease, d.leased_until, d.attempts, d.rejections, n.created_at,
            d.next_attempt_at, d.updated_at
        FROM deliveries_2 d JOIN notifications n ON n.id = d.notification_id;
        DROP TABLE deliveries_2;

        """

    /// The stories before attempts had a cause.
    private static let storiesOf3 = """
        CREATE TABLE page_fetches (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id TEXT NOT NULL,
            page INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            server_request_id TEXT,
            asked_at INTEGER NOT NULL,
            answered_at INTEGER NOT NULL,
            tries INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE delivery_attempts (
            notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            sink TEXT NOT NULL,
            number INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL,
            result TEXT NOT NULL CHECK (result IN ('ok', 'rejected', 'unavailable', 'timeout', 'gone')),
            reason TEXT,
            next_attempt_at INTEGER,
            PRIMARY KEY (notification_id, sink, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE watermark_moves (
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            watermark TEXT NOT NULL CHECK (length(watermark) = 26),
            moved_at INTEGER NOT NULL,
            PRIMARY KEY (stream_id, watermark)
        ) STRICT, WITHOUT ROWID;

        """

    /// The requests in the story of a change.
    private static let columnsOf3 = """
        ALTER TABLE notification_outbox ADD COLUMN fetch_id INTEGER;
        ALTER TABLE notification_outbox ADD COLUMN ack_request_id TEXT;

        """

    /// The level and the run of a log line.
    private static let logLevels = """
        ALTER TABLE log_entries ADD COLUMN level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3);
        ALTER TABLE log_entries ADD COLUMN run_id TEXT;
        UPDATE log_entries SET level = CASE WHEN is_error = 1 THEN 3 WHEN line LIKE '%"level":"WARN"%' THEN 2 ELSE 1 END;
        DROP INDEX idx_log_ordinary;
        ALTER TABLE log_entries DROP COLUMN is_error;
        CREATE INDEX idx_log_level ON log_entries (level, id);

        """

    /// The sums of all ledgers as one row, which a trigger kept.
    private static let totalsOf3 = """
        CREATE TABLE ledger_totals (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            fetched INTEGER NOT NULL, new INTEGER NOT NULL,
            duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
            delivered INTEGER NOT NULL, dead INTEGER NOT NULL,
            cancelled INTEGER NOT NULL, suppressed INTEGER NOT NULL,
            evicted INTEGER NOT NULL, acknowledged INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER ledger_rises AFTER UPDATE ON ledger BEGIN
            UPDATE ledger_totals SET fetched = fetched + max(0, NEW.fetched - OLD.fetched),
                new = new + max(0, NEW.new - OLD.new),
                duplicate = duplicate + max(0, NEW.duplicate - OLD.duplicate),
                rejected = rejected + max(0, NEW.rejected - OLD.rejected),
                delivered = delivered + max(0, NEW.delivered - OLD.delivered),
                dead = dead + max(0, NEW.dead - OLD.dead),
                cancelled = cancelled + max(0, NEW.cancelled - OLD.cancelled),
                suppressed = suppressed + max(0, NEW.suppressed - OLD.suppressed),
                evicted = evicted + max(0, NEW.evicted - OLD.evicted),
                acknowledged = acknowledged + max(0, NEW.acknowledged - OLD.acknowledged);
        END;

        """

    /// The sums of the existing ledgers.
    private static let sums = """
        INSERT INTO ledger_totals SELECT 1, coalesce(sum(fetched), 0), coalesce(sum(new), 0),
            coalesce(sum(duplicate), 0), coalesce(sum(rejected), 0), coalesce(sum(delivered), 0),
            coalesce(sum(dead), 0), coalesce(sum(cancelled), 0), coalesce(sum(suppressed), 0),
            coalesce(sum(evicted), 0), coalesce(sum(acknowledged), 0) FROM ledger;

        """

    /// The changes of version 4: samples of all ledgers, and whether a row's `plan_id` is the handle of an offer. Rows that
    /// wait at the migration keep the link of a project.
    static let version4 =
        Tables.ledgerSamples + """
            INSERT INTO ledger_samples SELECT 0, new, delivered, acknowledged, dead FROM ledger_totals;
            ALTER TABLE notification_outbox ADD COLUMN is_offer INTEGER NOT NULL DEFAULT 0 CHECK (is_offer IN (0, 1));

            """

    /// The changes of version 5: the keys of an encrypted database.
    static let version5 =
        Tables.keys + """
            ALTER TABLE plan_snapshots ADD COLUMN sealed_plan_id TEXT;

            """

    /// The changes of version 6: the checks of `notification_outbox.state` compare with `=`.
    ///
    /// They mean the same as before, so only their stored text changes and no row is rewritten
    /// (https://www.sqlite.org/lang_altertable.html, section 7). SQLite's shell refuses it from 3.42 unless
    /// `.dbconfig defensive off` comes first.
    static let version6 = """
        -- In sqlite3 from 3.42: .dbconfig defensive off
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, \(literal(states)), \(literal(comparison(states)))),
            \(literal(unfinished)), \(literal(comparison(unfinished))))
            WHERE type = 'table' AND name = 'notification_outbox';
        PRAGMA writable_schema = RESET;

        """

    /// The lists as version 1 has them.
    private static let states = """
        state IN ('pending', 'claimed', 'delivered', 'acknowledged', 'dead',
                'cancelled', 'suppressed', 'evicted')
        """

    private static let unfinished = "state IN ('pending', 'claimed', 'delivered')"

    private static func comparison(_ list: String) -> String {
        let values = list.split(separator: "'").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        return values.map { "state = '\($0)'" }.joined(separator: " OR ")
    }

    private static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }

    /// The changes of version 7: the rejected pages of a poll in a row, and the reason why a row is not delivered.
    static let version7 = """
        ALTER TABLE streams ADD COLUMN refused_pages INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE notification_outbox ADD COLUMN reason TEXT;

        """

    /// The change of version 8: how far a poll has seen the server's changes.
    static let version8 = """
        ALTER TABLE streams ADD COLUMN seen_until INTEGER;

        """

    /// The changes of version 9, one constant for each area.
    static let version9 = Tables.journal + discarder + storyHistory

    /// The operator who discarded a row.
    private static let discarder = """
        ALTER TABLE notification_outbox ADD COLUMN discarded_by TEXT;

        """

    /// The states that changes have left, the last runs, the causes of failed attempts, and the last news of polls.
    private static let storyHistory =
        Tables.history + """
            ALTER TABLE delivery_attempts ADD COLUMN cause TEXT;
            ALTER TABLE streams ADD COLUMN last_new INTEGER;

            """

    /// The changes of version 10, one constant for each area.
    static let version10 =
        manyKeys + giftsAndOffers + totalsOfStarts + progressOfAccounts + Tables.accounts + """
            DROP INDEX idx_outbox_age;
            DROP INDEX idx_outbox_priority;
            ALTER TABLE deliveries ADD COLUMN carried_by TEXT;
            ALTER TABLE deliveries ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1));

            """ + Tables.waitingRows + Tables.carriedDeliveries

    /// Keys of many accounts: no largest id, and an index by account. The check is removed as those of version 6.
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

    /// How far the digests of each account are armed. All of it was that of the active identity.
    private static let progressOfAccounts =
        Tables.digestProgress + """
            INSERT INTO digest_progress (account, digest, armed_through)
                SELECT activeDid, substr(k, 15), CAST(v AS INTEGER) FROM notif_config, active_identity
                WHERE substr(k, 1, 14) = 'armed_through:' AND activeDid IS NOT NULL;
            DELETE FROM notif_config WHERE substr(k, 1, 14) = 'armed_through:';

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

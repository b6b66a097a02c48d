extension Tables {
    /// The outbox, its acknowledgements, and the last seen version of each plan.
    ///
    /// The checks compare states with `=`: for every row that it checks, SQLite makes a temporary table of a list of more
    /// than two values, which takes half of the time of an insert (`Benchmarks/poll backlog`). `refusals` of a batch does
    /// not count connection failures, which say nothing about the batch. `is_offer` tells whether `plan_id` is the handle
    /// of an offer without a plan, `is_edition` whether it edits one that was made before the poll last ran, and
    /// `fulfills_offer` whether a gift honours an offer. `reason` tells why a suppressed or dead row is not delivered, where
    /// its state does not; `discarded` marks a finished row that the operator discarded for the sinks that did not get it,
    /// and `discarded_by` names who discarded a row. `details` has the link and the fields of a list's item until it is delivered.
    static let outbox = """
        CREATE TABLE notification_outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL REFERENCES streams (id),
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            plan_id TEXT NOT NULL,
            name TEXT,
            origin TEXT NOT NULL DEFAULT 'poll' CHECK (origin IN ('poll', 'bootstrap')),
            state TEXT NOT NULL CHECK (state = 'pending' OR state = 'claimed' OR state = 'delivered' OR
                state = 'acknowledged' OR state = 'dead' OR state = 'cancelled' OR state = 'suppressed' OR
                state = 'evicted'),
            priority INTEGER NOT NULL DEFAULT 0,
            retry_count INTEGER NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
            notification_id INTEGER,
            run_id TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            delivered_at INTEGER,
            acknowledged_at INTEGER,
            finished_at INTEGER,
            changed_fields TEXT CHECK (changed_fields IS NULL OR json_valid(changed_fields)),
            fetch_id INTEGER,
            ack_request_id TEXT,
            is_offer INTEGER NOT NULL DEFAULT 0 CHECK (is_offer IN (0, 1)),
            reason TEXT,
            discarded_by TEXT,
            is_edition INTEGER NOT NULL DEFAULT 0 CHECK (is_edition IN (0, 1)),
            fulfills_offer INTEGER NOT NULL DEFAULT 0 CHECK (fulfills_offer IN (0, 1)),
            details TEXT CHECK (details IS NULL OR json_valid(details)),
            UNIQUE (stream_id, jwt_id),
            CHECK (state <> 'claimed' OR notification_id IS NOT NULL),
            CHECK ((finished_at IS NULL) = (state = 'pending' OR state = 'claimed' OR state = 'delivered')),
            CHECK (state NOT IN ('delivered', 'acknowledged') OR delivered_at IS NOT NULL),
            CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
            CHECK (origin = 'poll' OR state = 'suppressed')
        ) STRICT;
        CREATE INDEX idx_outbox_open ON notification_outbox (state, stream_id, jwt_id)
            WHERE state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted';
        CREATE INDEX idx_outbox_unacknowledged ON notification_outbox (stream_id, jwt_id)
            WHERE state = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll';
        \(waitingRows)
        CREATE TABLE ack_batches (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL UNIQUE REFERENCES streams (id) ON DELETE CASCADE,
            idempotency_key TEXT NOT NULL UNIQUE,
            row_ids TEXT NOT NULL CHECK (json_valid(row_ids)),
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            refusals INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE plan_snapshots (
            account TEXT NOT NULL,
            server TEXT NOT NULL,
            plan_id TEXT NOT NULL,
            jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
            fields TEXT NOT NULL CHECK (json_valid(fields)),
            sealed_plan_id TEXT,
            PRIMARY KEY (account, server, plan_id)
        ) STRICT, WITHOUT ROWID;

        """

    /// The rows that wait to be claimed, and those of each open notification, with their ages. With `state` in an index
    /// SQLite counts its rows without the table.
    static let waitingRows = """
        CREATE INDEX idx_outbox_priority ON notification_outbox
            (stream_id, priority DESC, created_at, jwt_id, state) WHERE state = 'pending';
        CREATE INDEX idx_outbox_claimed ON notification_outbox (notification_id, created_at) WHERE state = 'claimed';

        """

    /// The sums of all ledgers' rises, for counters that survive a restart and a crash.
    ///
    /// Each start of a process has a row, so that processes never wait for one another at a row that all of them change.
    /// The row of start `''` has the sums of former starts.
    static let ledgerTotals = """
        CREATE TABLE ledger_totals (
            start TEXT PRIMARY KEY,
            fetched INTEGER NOT NULL, new INTEGER NOT NULL,
            duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
            delivered INTEGER NOT NULL, dead INTEGER NOT NULL,
            cancelled INTEGER NOT NULL, suppressed INTEGER NOT NULL,
            evicted INTEGER NOT NULL, acknowledged INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        """

    /// The sums of all ledgers at earlier times, for the totals of the last day. The first sample has time 0, so it
    /// precedes every total.
    static let ledgerSamples = """
        CREATE TABLE ledger_samples (
            taken_at INTEGER PRIMARY KEY,
            new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
        ) STRICT;

        """

    /// The items that were rejected one by one, so that their operator can list them. Nothing of an item is kept but its
    /// identifier, if it is valid, and where its faults are.
    ///
    /// The same item with the same faults is one row, however often the server sends it. A discarded row stays hidden
    /// until the server has not sent its item for a while.
    static let quarantine = """
        CREATE TABLE quarantine (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            fingerprint INTEGER NOT NULL,
            jwt_id TEXT CHECK (length(jwt_id) = 26),
            kind TEXT NOT NULL,
            issues TEXT NOT NULL CHECK (json_valid(issues)),
            page INTEGER NOT NULL CHECK (page > 0),
            run_id TEXT NOT NULL,
            times INTEGER NOT NULL DEFAULT 1,
            created_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL,
            discarded_at INTEGER,
            UNIQUE (stream_id, fingerprint)
        ) STRICT;
        CREATE INDEX idx_quarantine_seen ON quarantine (seen_at);

        """

    /// The items that polls have seen of lists, which have no cursors.
    ///
    /// `item` and `version` are digests with the `item_key` of the list, so that the file alone does not tell which ids were
    /// seen. The key is random: it moves with the account, and no digest changes when the database is encrypted. `rank` is the
    /// version's place among others, as far as they have an order. `state` is unknown before the first complete walk.
    static let lists = """
        CREATE TABLE list_states (
            stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
            item_key BLOB NOT NULL,
            state TEXT CHECK (state IS NULL OR json_valid(state))
        ) STRICT;
        CREATE TABLE seen_items (
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            item BLOB NOT NULL,
            version BLOB NOT NULL,
            rank INTEGER,
            seen_at INTEGER NOT NULL,
            PRIMARY KEY (stream_id, item)
        ) STRICT, WITHOUT ROWID;

        """

    /// The story of each change: the request that brought it, every answer of a sink, its acknowledgement, and the moves
    /// of the watermark.
    ///
    /// A page is one row, whatever the number of its changes. `page_fetches` has no foreign key, because its rows expire
    /// before those of quiet streams; an id is never reused. Of an attempt, `reason` is a sentence and `cause` the
    /// ``FailureReason``.
    static let stories = """
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
            cause TEXT,
            PRIMARY KEY (notification_id, sink, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE watermark_moves (
            stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
            watermark TEXT NOT NULL CHECK (length(watermark) = 26),
            moved_at INTEGER NOT NULL,
            PRIMARY KEY (stream_id, watermark)
        ) STRICT, WITHOUT ROWID;

        """

    /// The states that changes and notifications have left, so that their stories only grow, and the last runs of an agent
    /// that has ended.
    ///
    /// A row says which state was left, and by which step. A change that is delivered without a detour has none. `sink`
    /// names the sinks that did not get a dead change. `former_states` has no foreign keys: its rows expire, and ids of
    /// changes and notifications are never reused.
    static let history = """
        CREATE TABLE former_states (
            id INTEGER PRIMARY KEY,
            row_id INTEGER,
            notification_id INTEGER,
            fetch_id INTEGER,
            stored_at INTEGER,
            state TEXT,
            ended_at INTEGER,
            sink TEXT,
            reason TEXT,
            step TEXT NOT NULL,
            at INTEGER NOT NULL,
            CHECK (row_id IS NOT NULL OR notification_id IS NOT NULL)
        ) STRICT;
        CREATE INDEX idx_former_rows ON former_states (row_id) WHERE row_id IS NOT NULL;
        CREATE INDEX idx_former_notifications ON former_states (notification_id) WHERE notification_id IS NOT NULL;
        CREATE INDEX idx_former_age ON former_states (at);

        CREATE TABLE recent_runs (
            run_id TEXT PRIMARY KEY,
            poll TEXT NOT NULL,
            finished_at INTEGER NOT NULL,
            run TEXT NOT NULL CHECK (json_valid(run))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idx_recent_runs_age ON recent_runs (finished_at);

        """
}

extension Schema {
    /// The outbox, its acknowledgements, and the last seen version of each plan.
    ///
    /// The checks compare states with `=`: for every row that it checks, SQLite makes a temporary table of a list of more
    /// than two values, which takes half of the time of an insert (`Benchmarks/poll backlog`). `refusals` of a batch does
    /// not count connection failures, which say nothing about the batch. `is_offer` tells whether `plan_id` is the handle
    /// of an offer without a plan. `reason` tells why a suppressed or dead row is not delivered, where its state does not;
    /// `discarded` marks a finished row that the operator discarded for the sinks that did not get it.
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
            UNIQUE (stream_id, jwt_id),
            CHECK (state <> 'claimed' OR notification_id IS NOT NULL),
            CHECK ((finished_at IS NULL) = (state = 'pending' OR state = 'claimed' OR state = 'delivered')),
            CHECK (state NOT IN ('delivered', 'acknowledged') OR delivered_at IS NOT NULL),
            CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
            CHECK (origin = 'poll' OR state = 'suppressed')
        ) STRICT;
        CREATE INDEX idx_outbox_priority ON notification_outbox
            (stream_id, priority DESC, created_at, jwt_id) WHERE state = 'pending';
        CREATE INDEX idx_outbox_open ON notification_outbox (state, stream_id, jwt_id)
            WHERE state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted';
        CREATE INDEX idx_outbox_age ON notification_outbox (state, stream_id, created_at)
            WHERE state = 'pending' OR state = 'claimed';
        CREATE INDEX idx_outbox_unacknowledged ON notification_outbox (stream_id, jwt_id)
            WHERE state = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll';

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
}

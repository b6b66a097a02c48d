PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE settings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    accountDid TEXT NOT NULL UNIQUE,
    apiServer TEXT NOT NULL DEFAULT 'https://api.endorser.ch',
    starredPlanHandleIds TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(starredPlanHandleIds)),
    starsSeeded INTEGER NOT NULL DEFAULT 0 CHECK (starsSeeded IN (0, 1)),
    lastAckedStarredPlanChangesJwtId TEXT,
    lastAckedTimestamp INTEGER,
    notificationPreferences TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(notificationPreferences)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_settings_updated ON settings (updated_at);

CREATE TABLE active_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    activeDid TEXT REFERENCES settings (accountDid),
    generation INTEGER NOT NULL DEFAULT 0 CHECK (generation >= 0),
    lastUpdated INTEGER
) STRICT;

CREATE TABLE starred_archive (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    plan_ids TEXT NOT NULL CHECK (json_valid(plan_ids)),
    archived_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_starred_archive ON starred_archive (account, archived_at);
CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    poll TEXT NOT NULL,
    fetch_cursor TEXT CHECK (length(fetch_cursor) = 26),
    bootstrapped_at INTEGER,
    walk_top TEXT,
    walk_before TEXT,
    walk_after TEXT,
    last_attempt INTEGER,
    last_success INTEGER,
    last_outcome TEXT,
    next_run INTEGER,
    last_notified_at INTEGER,
    refused_pages INTEGER NOT NULL DEFAULT 0,
    seen_until INTEGER,
    last_new INTEGER,
    UNIQUE (account, server, poll),
    CHECK ((walk_top IS NULL) = (walk_before IS NULL))
) STRICT;

CREATE TABLE watermarks (
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    poll TEXT NOT NULL,
    watermark TEXT CHECK (length(watermark) = 26),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account, server, poll)
) STRICT, WITHOUT ROWID;

CREATE TABLE servers (
    server TEXT PRIMARY KEY,
    dialect TEXT CHECK (dialect IN ('canonical', 'endorser')),
    acknowledges INTEGER CHECK (acknowledges IN (0, 1)),
    not_before INTEGER,
    not_before_set INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    new_rows INTEGER NOT NULL,
    reason TEXT
) STRICT;
CREATE INDEX idx_history_stream ON history (stream_id, finished_at);
CREATE INDEX idx_history_finished ON history (finished_at);

CREATE TABLE ledger (
    stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    fetched INTEGER NOT NULL DEFAULT 0, new INTEGER NOT NULL DEFAULT 0,
    duplicate INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0, suppressed INTEGER NOT NULL DEFAULT 0,
    evicted INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE request_windows (
    account TEXT PRIMARY KEY,
    window BLOB NOT NULL,
    spent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE INDEX idx_outbox_priority ON notification_outbox
    (stream_id, priority DESC, created_at, jwt_id, state) WHERE state = 'pending';
CREATE INDEX idx_outbox_claimed ON notification_outbox (notification_id, created_at) WHERE state = 'claimed';

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
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    stream_id INTEGER NOT NULL REFERENCES streams (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'delivered', 'dead', 'cancelled', 'released')),
    kind TEXT NOT NULL,
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    payload BLOB NOT NULL,
    run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    repeats TEXT,
    CHECK ((finished_at IS NULL) = (state = 'open'))
) STRICT;
CREATE INDEX idx_notifications_open ON notifications (stream_id) WHERE state = 'open';
CREATE INDEX idx_notifications_finished ON notifications (finished_at) WHERE state <> 'open';
CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;
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
    carried_by TEXT,
    is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1)),
    PRIMARY KEY (notification_id, sink)
) STRICT, WITHOUT ROWID;
CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');
CREATE INDEX idx_deliveries_carried ON deliveries (carried_by) WHERE carried_by IS NOT NULL;
CREATE TABLE shortlinks (
    token TEXT PRIMARY KEY,
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    targets TEXT NOT NULL CHECK (json_valid(targets)),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idx_shortlinks_notification ON shortlinks (notification_id);
CREATE INDEX idx_shortlinks_expiry ON shortlinks (expires_at);

CREATE TABLE notification_actions (
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    action TEXT NOT NULL
        CHECK (action IN ('view_updates', 'view_project', 'dismiss', 'snooze_1h', 'mark_read')),
    done_at INTEGER NOT NULL,
    repetition TEXT CHECK ((repetition IS NOT NULL) = (action = 'snooze_1h')),
    PRIMARY KEY (notification_id, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE staleness_notices (
    stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX idx_staleness_notification ON staleness_notices (notification_id);
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
CREATE TABLE feeds (
    account TEXT PRIMARY KEY,
    latest INTEGER NOT NULL DEFAULT 0,
    token TEXT UNIQUE,
    sealed_token TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE feed (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    token TEXT NOT NULL UNIQUE,
    payload BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (account, sequence)
) STRICT;
CREATE INDEX idx_feed_created ON feed (created_at);
CREATE TABLE ledger_totals (
    start TEXT PRIMARY KEY,
    fetched INTEGER NOT NULL, new INTEGER NOT NULL,
    duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
    delivered INTEGER NOT NULL, dead INTEGER NOT NULL,
    cancelled INTEGER NOT NULL, suppressed INTEGER NOT NULL,
    evicted INTEGER NOT NULL, acknowledged INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_samples (
    taken_at INTEGER PRIMARY KEY,
    new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
) STRICT;
CREATE TABLE notif_contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    slot_id TEXT NOT NULL,
    payload_json TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    etag TEXT,
    source TEXT NOT NULL DEFAULT '',
    validated_at INTEGER,
    UNIQUE (account, slot_id, fetched_at)
) STRICT;
CREATE INDEX notif_idx_contents_slot_time ON notif_contents (slot_id, fetched_at DESC);
CREATE INDEX notif_idx_contents_source ON notif_contents (account, source, fetched_at DESC);
CREATE TABLE notif_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    slot_id TEXT NOT NULL,
    fire_at INTEGER NOT NULL,
    delivered_at INTEGER,
    status TEXT NOT NULL CHECK (status IN ('scheduled', 'shown', 'skipped', 'skipped_stale', 'error')),
    error_code TEXT,
    error_message TEXT,
    digest TEXT,
    token TEXT,
    prefetch TEXT NOT NULL DEFAULT 'none' CHECK (prefetch IN ('none', 'started', 'succeeded', 'failed')),
    text_kind TEXT CHECK (text_kind IN ('fresh', 'cached', 'fallback')),
    content_at INTEGER,
    fingerprint INTEGER,
    title TEXT,
    body TEXT,
    payload BLOB,
    fired_at INTEGER,
    UNIQUE (account, slot_id, fire_at)
) STRICT;
CREATE INDEX notif_idx_deliveries_open ON notif_deliveries (account) WHERE status = 'scheduled';
CREATE TABLE notif_config (
    k TEXT PRIMARY KEY,
    v TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE event_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('delivery', 'error', 'heartbeat', 'config_updated')),
    payload_json TEXT NOT NULL CHECK (json_valid(payload_json)),
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL
) STRICT;
CREATE TABLE digest_progress (
    account TEXT NOT NULL,
    digest TEXT NOT NULL,
    armed_through INTEGER NOT NULL,
    PRIMARY KEY (account, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE poll_schedules (
    schedule_id TEXT PRIMARY KEY,
    config_json TEXT NOT NULL CHECK (json_valid(config_json)),
    next_run INTEGER,
    last_attempt INTEGER,
    last_success INTEGER,
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    last_error TEXT,
    validator_url TEXT,
    etag TEXT,
    last_modified TEXT,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE host_watermarks (
    key TEXT PRIMARY KEY,
    watermark TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE removed_accounts (
    account TEXT PRIMARY KEY,
    removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feature_introductions (
    feature TEXT PRIMARY KEY,
    introduced_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feature_notices (
    account TEXT NOT NULL,
    feature TEXT NOT NULL REFERENCES feature_introductions (feature),
    token TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (account, feature)
) STRICT, WITHOUT ROWID;
CREATE TABLE sealing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    master_key TEXT NOT NULL CHECK (length(master_key) = 16),
    state TEXT NOT NULL CHECK (state IN ('sealed', 'cleaning')),
    changed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
CREATE INDEX idx_data_keys_account ON data_keys (account);
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('action', 'reload', 'run_end')),
    actor TEXT NOT NULL,
    verb TEXT,
    target TEXT,
    result TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE INDEX idx_journal_created ON journal (created_at);
CREATE TABLE log_entries (
    id INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    line TEXT NOT NULL,
    level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3),
    run_id TEXT
) STRICT;
CREATE INDEX idx_log_level ON log_entries (level, id);

CREATE TABLE installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    instance_id TEXT NOT NULL,
    installation_key BLOB NOT NULL CHECK (length(installation_key) = 32)
) STRICT;
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
INSERT INTO active_identity (id) VALUES (1);
INSERT INTO ledger_samples VALUES (0, 0, 0, 0, 0);
INSERT INTO installation (id, instance_id, installation_key)
    VALUES (1, lower(hex(randomblob(16))), randomblob(32));
INSERT INTO grdb_migrations (identifier) VALUES ('v1');
INSERT INTO grdb_migrations (identifier) VALUES ('v2');
INSERT INTO grdb_migrations (identifier) VALUES ('v3');
INSERT INTO grdb_migrations (identifier) VALUES ('v4');
INSERT INTO grdb_migrations (identifier) VALUES ('v5');
INSERT INTO grdb_migrations (identifier) VALUES ('v6');
INSERT INTO grdb_migrations (identifier) VALUES ('v7');
INSERT INTO grdb_migrations (identifier) VALUES ('v8');
INSERT INTO grdb_migrations (identifier) VALUES ('v9');
INSERT INTO grdb_migrations (identifier) VALUES ('v10');
PRAGMA user_version = 10;
COMMIT;

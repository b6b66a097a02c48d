PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE account_moves (
    account TEXT PRIMARY KEY,
    number INTEGER NOT NULL CHECK (number > 0),
    move_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('gone', 'here')),
    bundle BLOB,
    moved_at INTEGER NOT NULL,
    CHECK (state = 'gone' OR bundle IS NULL)
) STRICT, WITHOUT ROWID;
CREATE TABLE account_sinks (
    account TEXT NOT NULL,
    sink TEXT NOT NULL,
    address BLOB NOT NULL,
    gone_at INTEGER,
    PRIMARY KEY (account, sink)
) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
    account TEXT PRIMARY KEY REFERENCES settings (accountDid),
    status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
    generation INTEGER NOT NULL CHECK (generation >= 0),
    added_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE active_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    activeDid TEXT REFERENCES settings (accountDid),
    generation INTEGER NOT NULL DEFAULT 0 CHECK (generation >= 0),
    lastUpdated INTEGER
) STRICT;
INSERT INTO "active_identity" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa',1,1795782875168);
CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    purpose TEXT NOT NULL CHECK (purpose IN ('data', 'lookup', 'installation')),
    account TEXT,
    wrapped BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'retiring')),
    uses INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;
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
INSERT INTO "deliveries" VALUES(1,'file','ok',1,NULL,1,0,1795782875186,1795782875188,1795782875188,NULL,NULL,0);
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
INSERT INTO "delivery_attempts" VALUES(1,'file',1,1795782875187,1795782875188,'ok',NULL,NULL,NULL);
CREATE TABLE digest_progress (
    account TEXT NOT NULL,
    digest TEXT NOT NULL,
    armed_through INTEGER NOT NULL,
    PRIMARY KEY (account, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('delivery', 'error', 'heartbeat', 'config_updated')),
    payload_json TEXT NOT NULL CHECK (json_valid(payload_json)),
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL
) STRICT;
CREATE TABLE feature_introductions (
    feature TEXT PRIMARY KEY,
    introduced_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "feature_introductions" VALUES('starred_projects',1795782875168);
CREATE TABLE feature_notices (
    account TEXT NOT NULL,
    feature TEXT NOT NULL REFERENCES feature_introductions (feature),
    token TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (account, feature)
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
CREATE TABLE feeds (
    account TEXT PRIMARY KEY,
    latest INTEGER NOT NULL DEFAULT 0,
    token TEXT UNIQUE,
    sealed_token TEXT
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
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('v1');
INSERT INTO "grdb_migrations" VALUES('v2');
INSERT INTO "grdb_migrations" VALUES('v3');
INSERT INTO "grdb_migrations" VALUES('v4');
INSERT INTO "grdb_migrations" VALUES('v5');
INSERT INTO "grdb_migrations" VALUES('v6');
INSERT INTO "grdb_migrations" VALUES('v7');
INSERT INTO "grdb_migrations" VALUES('v8');
INSERT INTO "grdb_migrations" VALUES('v9');
INSERT INTO "grdb_migrations" VALUES('v10');
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
INSERT INTO "history" VALUES(1,1,'run_2c87507995e03fc8',1795782875175,1795782875183,'changed',3,NULL);
INSERT INTO "history" VALUES(2,1,'run_1ee6d46b7af7d9fe',1795782875269,1795782875275,'changed',2,NULL);
CREATE TABLE host_watermarks (
    key TEXT PRIMARY KEY,
    watermark TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    instance_id TEXT NOT NULL,
    installation_key BLOB NOT NULL CHECK (length(installation_key) = 32)
) STRICT;
INSERT INTO "installation" VALUES(1,'923e375f192e8f362e5222ef1df08068',X'3A25B01845EA265D8B105D569ADD400CB5E0F62A605013B3C84A8E0A913275FF');
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
INSERT INTO "journal" VALUES(1,1795782875195,'action','command:root','polls.run','starred_projects','ok',NULL);
INSERT INTO "journal" VALUES(2,1795782875281,'action','command:root','polls.run','starred_projects','ok',NULL);
CREATE TABLE leases (
    account TEXT PRIMARY KEY REFERENCES accounts (account) ON DELETE CASCADE,
    due_at INTEGER NOT NULL,
    owner TEXT CHECK (owner <> ''),
    epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    last_attempt INTEGER,
    last_success INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger (
    stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    fetched INTEGER NOT NULL DEFAULT 0, new INTEGER NOT NULL DEFAULT 0,
    duplicate INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0, suppressed INTEGER NOT NULL DEFAULT 0,
    evicted INTEGER NOT NULL DEFAULT 0, acknowledged INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "ledger" VALUES(1,8,5,3,0,3,0,0,0,0,3);
CREATE TABLE ledger_samples (
    taken_at INTEGER PRIMARY KEY,
    new INTEGER NOT NULL, delivered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, dead INTEGER NOT NULL
) STRICT;
INSERT INTO "ledger_samples" VALUES(0,0,0,0,0);
CREATE TABLE ledger_totals (
    start TEXT PRIMARY KEY,
    fetched INTEGER NOT NULL, new INTEGER NOT NULL,
    duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
    delivered INTEGER NOT NULL, dead INTEGER NOT NULL,
    cancelled INTEGER NOT NULL, suppressed INTEGER NOT NULL,
    evicted INTEGER NOT NULL, acknowledged INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ledger_totals" VALUES('',3,3,0,0,3,0,0,0,0,3);
INSERT INTO "ledger_totals" VALUES('D1ZKCB3++lkStbXZ',5,2,3,0,0,0,0,0,0,0);
CREATE TABLE log_entries (
    id INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    line TEXT NOT NULL,
    level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3),
    run_id TEXT
) STRICT;
INSERT INTO "log_entries" VALUES(1,1795782875180,'{"timestamp":"2026-11-27T12:34:35.180Z","level":"INFO","event":"server.dialect","request_id":"037c0847-2ac6-45fb-bae2-063e0d4e54c8","run_id":"run_2c87507995e03fc8","metadata":{"dialect":"canonical","poll":"starred_projects"}}',1,'run_2c87507995e03fc8');
INSERT INTO "log_entries" VALUES(2,1795782875183,'{"timestamp":"2026-11-27T12:34:35.183Z","level":"INFO","event":"poll.changed","request_id":"037c0847-2ac6-45fb-bae2-063e0d4e54c8","run_id":"run_2c87507995e03fc8","identity":"did:hash:39665dfea16bcbc9","change_count":3,"project_count":5,"duration_ms":8,"metadata":{"outcome":"changed","poll":"starred_projects"}}',1,'run_2c87507995e03fc8');
INSERT INTO "log_entries" VALUES(3,1795782875189,'{"timestamp":"2026-11-27T12:34:35.189Z","level":"INFO","event":"notification.delivered","run_id":"run_2c87507995e03fc8","change_count":3,"metadata":{"notification_id":"ntf_39b28e02b4320a5e57a6f733798259ae","poll":"starred_projects"}}',1,'run_2c87507995e03fc8');
INSERT INTO "log_entries" VALUES(4,1795782875194,'{"timestamp":"2026-11-27T12:34:35.194Z","level":"INFO","event":"operator.action","metadata":{"actor":"command:root","result":"ok","target":"starred_projects","verb":"polls.run"}}',1,NULL);
INSERT INTO "log_entries" VALUES(5,1795782875276,'{"timestamp":"2026-11-27T12:34:35.276Z","level":"INFO","event":"poll.changed","request_id":"4f48064c-4cb8-4b92-a15f-68424a841536","run_id":"run_1ee6d46b7af7d9fe","identity":"did:hash:39665dfea16bcbc9","change_count":2,"project_count":5,"duration_ms":7,"metadata":{"outcome":"changed","poll":"starred_projects"}}',1,'run_1ee6d46b7af7d9fe');
INSERT INTO "log_entries" VALUES(6,1795782875280,'{"timestamp":"2026-11-27T12:34:35.280Z","level":"INFO","event":"operator.action","metadata":{"actor":"command:root","result":"ok","target":"starred_projects","verb":"polls.run"}}',1,NULL);
CREATE TABLE notif_config (
    k TEXT PRIMARY KEY,
    v TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "notif_config" VALUES('digests','[]');
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
CREATE TABLE notification_actions (
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    action TEXT NOT NULL
        CHECK (action IN ('view_updates', 'view_project', 'dismiss', 'snooze_1h', 'mark_read')),
    done_at INTEGER NOT NULL,
    repetition TEXT CHECK ((repetition IS NOT NULL) = (action = 'snooze_1h')),
    PRIMARY KEY (notification_id, action)
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
    UNIQUE (stream_id, jwt_id),
    CHECK (state <> 'claimed' OR notification_id IS NOT NULL),
    CHECK ((finished_at IS NULL) = (state = 'pending' OR state = 'claimed' OR state = 'delivered')),
    CHECK (state NOT IN ('delivered', 'acknowledged') OR delivered_at IS NOT NULL),
    CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
    CHECK (origin = 'poll' OR state = 'suppressed')
) STRICT;
INSERT INTO "notification_outbox" VALUES(1,1,'1795782875_UERE8m_3cbd9239','community_garden_fence','Community Garden Fence','poll','acknowledged',0,0,1,'run_2c87507995e03fc8',1795782875180,1795782875188,1795782875193,1795782875193,NULL,1,'3e5b938e-2b64-4685-b359-d53607bd51d2',0,NULL,NULL,0,0);
INSERT INTO "notification_outbox" VALUES(2,1,'1795782875_UEREIx_2f735d27','tool_library_shelves','Tool Library Shelves','poll','acknowledged',0,0,1,'run_2c87507995e03fc8',1795782875180,1795782875188,1795782875193,1795782875193,NULL,1,'3e5b938e-2b64-4685-b359-d53607bd51d2',0,NULL,NULL,0,0);
INSERT INTO "notification_outbox" VALUES(3,1,'1795782875_UEREVE_c1c46961','creek_cleanup_saturday','Creek Cleanup Saturday','poll','acknowledged',0,0,1,'run_2c87507995e03fc8',1795782875180,1795782875188,1795782875193,1795782875193,NULL,1,'3e5b938e-2b64-4685-b359-d53607bd51d2',0,NULL,NULL,0,0);
INSERT INTO "notification_outbox" VALUES(7,1,'1795782875_UEREbT_191b1e1e','repair_cafe_winter_season','Repair Café Winter Season','poll','pending',0,0,NULL,'run_1ee6d46b7af7d9fe',1795782875273,NULL,NULL,NULL,NULL,2,NULL,0,NULL,NULL,0,0);
INSERT INTO "notification_outbox" VALUES(8,1,'1795782875_UEREey_9979fa6b','neighborhood_solar_co_op','Neighborhood Solar Co-op','poll','pending',0,0,NULL,'run_1ee6d46b7af7d9fe',1795782875273,NULL,NULL,NULL,NULL,2,NULL,0,NULL,NULL,0,0);
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
INSERT INTO "notifications" VALUES(1,'ntf_39b28e02b4320a5e57a6f733798259ae',1,'delivered','several',3,'Project Updates','You have 3 new updates in your starred projects',X'7B22616374696F6E5F6C6162656C73223A7B226469736D697373223A224469736D697373222C226D61726B5F72656164223A224D61726B2061732052656164222C22736E6F6F7A655F3168223A22536E6F6F7A65203120486F7572222C22766965775F75706461746573223A22566965772055706461746573227D2C22616374696F6E73223A5B22766965775F75706461746573222C226469736D697373222C22736E6F6F7A655F3168222C226D61726B5F72656164225D2C22626F6479223A22596F7520686176652033206E6577207570646174657320696E20796F757220737461727265642070726F6A65637473222C226368616E676573223A5B7B226368616E6765645F6174223A22323032362D31312D32375431323A33343A33352E3030305A222C226A77745F6964223A22313739353738323837355F55455245386D5F3363626439323339222C226E616D65223A22436F6D6D756E6974792047617264656E2046656E6365222C22706C616E223A22636F6D6D756E6974795F67617264656E5F66656E6365227D2C7B226368616E6765645F6174223A22323032362D31312D32375431323A33343A33352E3030305A222C226A77745F6964223A22313739353738323837355F5545524549785F3266373335643237222C226E616D65223A22546F6F6C204C696272617279205368656C766573222C22706C616E223A22746F6F6C5F6C6962726172795F7368656C766573227D2C7B226368616E6765645F6174223A22323032362D31312D32375431323A33343A33352E3030305A222C226A77745F6964223A22313739353738323837355F5545524556455F6331633436393631222C226E616D65223A22437265656B20436C65616E7570205361747572646179222C22706C616E223A22637265656B5F636C65616E75705F7361747572646179227D5D2C22636F6C6C617073655F6B6579223A22737461727265642D70726F6A65637473222C22636F756E74223A332C22637265617465645F6174223A22323032362D31312D32375431323A33343A33352E3138365A222C22646565705F6C696E6B223A2274696D657361666172693A2F2F70726F6A656374732F757064617465733F6A77744964733D313739353738323837355F55455245386D5F33636264393233392C313739353738323837355F5545524549785F32663733356432372C313739353738323837355F5545524556455F6331633436393631222C2267726F7570223A227365766572616C222C226964223A226E74665F3339623238653032623433323061356535376136663733333739383235396165222C226C6F63616C65223A22656E222C22706F6C6C223A22737461727265645F70726F6A65637473222C2272756E5F6964223A2272756E5F32633837353037393935653033666338222C227469746C65223A2250726F6A6563742055706461746573227D','run_2c87507995e03fc8',1795782875186,1795782875188,NULL);
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
INSERT INTO "page_fetches" VALUES(1,'run_2c87507995e03fc8',1,'037c0847-2ac6-45fb-bae2-063e0d4e54c8','037c0847-2ac6-45fb-bae2-063e0d4e54c8',1795782875177,1795782875178,1);
INSERT INTO "page_fetches" VALUES(2,'run_1ee6d46b7af7d9fe',1,'4f48064c-4cb8-4b92-a15f-68424a841536','4f48064c-4cb8-4b92-a15f-68424a841536',1795782875271,1795782875272,1);
CREATE TABLE plan_snapshots (
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
    fields TEXT NOT NULL CHECK (json_valid(fields)),
    sealed_plan_id TEXT,
    PRIMARY KEY (account, server, plan_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','community_garden_fence','1795782875_UERE8m_3cbd9239','{"name":"Community Garden Fence","description":"The meeting point changed to the north gate.","location":"-14.810000000000002,165.89999999999998","url":"https://example.org/projects/1","start_time":"2025-06-01T00:00:00Z","end_time":"2025-11-28T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','creek_cleanup_saturday','1795782875_UEREVE_c1c46961','{"name":"Creek Cleanup Saturday","description":"The materials arrived and are stored in the shed.","location":"-38.32,-142.55","start_time":"2025-06-03T00:00:00Z","end_time":"2025-11-30T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','neighborhood_solar_co_op','1795782875_UEREey_9979fa6b','{"name":"Neighborhood Solar Co-op","description":"New photos are up, and the next session has a date.","start_time":"2025-06-05T00:00:00Z","end_time":"2025-12-02T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','repair_cafe_winter_season','1795782875_UEREbT_191b1e1e','{"name":"Repair Café Winter Season","description":"Sign-up is open for the last three places.","location":"49.370000000000005,96.07","url":"https://example.org/projects/4","start_time":"2025-06-04T00:00:00Z","end_time":"2025-12-01T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','tool_library_shelves','1795782875_UEREIx_2f735d27','{"name":"Tool Library Shelves","description":"Half of the budget is covered. Thank you!","location":"-35.34,87.63","start_time":"2025-06-02T00:00:00Z","end_time":"2025-11-29T00:00:00Z"}',NULL);
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
CREATE TABLE recent_runs (
    run_id TEXT PRIMARY KEY,
    poll TEXT NOT NULL,
    finished_at INTEGER NOT NULL,
    run TEXT NOT NULL CHECK (json_valid(run))
) STRICT, WITHOUT ROWID;
INSERT INTO "recent_runs" VALUES('run_1ee6d46b7af7d9fe','starred_projects',1795782875275,'{"runID":"run_1ee6d46b7af7d9fe","requests":1,"finishedAt":1795782875275,"new":2,"outcome":"changed","answer":{"tookMilliseconds":1,"requestID":"4f48064c-4cb8-4b92-a15f-68424a841536","serverRequestID":"4f48064c-4cb8-4b92-a15f-68424a841536","status":200},"poll":"starred_projects","startedAt":1795782875269}');
INSERT INTO "recent_runs" VALUES('run_2c87507995e03fc8','starred_projects',1795782875183,'{"requests":1,"runID":"run_2c87507995e03fc8","startedAt":1795782875175,"finishedAt":1795782875183,"new":3,"answer":{"requestID":"037c0847-2ac6-45fb-bae2-063e0d4e54c8","status":200,"serverRequestID":"037c0847-2ac6-45fb-bae2-063e0d4e54c8","tookMilliseconds":1},"poll":"starred_projects","outcome":"changed"}');
CREATE TABLE removed_accounts (
    account TEXT PRIMARY KEY,
    removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE request_windows (
    account TEXT PRIMARY KEY,
    window BLOB NOT NULL,
    spent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "request_windows" VALUES('did:ethr:0x00000000000000000000000000000000000000aa',X'0100000000000000601B001DA20100000300000000000000601B001DA20100000300000000000000',1795782875283);
CREATE TABLE sealed_accounts (
    account TEXT PRIMARY KEY,
    did TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sealing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    master_key TEXT NOT NULL CHECK (length(master_key) = 16),
    state TEXT NOT NULL CHECK (state IN ('sealed', 'cleaning')),
    changed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE servers (
    server TEXT PRIMARY KEY,
    dialect TEXT CHECK (dialect IN ('canonical', 'endorser')),
    acknowledges INTEGER CHECK (acknowledges IN (0, 1)),
    not_before INTEGER,
    not_before_set INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "servers" VALUES('https://api.example','canonical',1,NULL,NULL);
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
INSERT INTO "settings" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','["community_garden_fence","tool_library_shelves","creek_cleanup_saturday","repair_cafe_winter_season","neighborhood_solar_co_op"]',1,'1795782875_UEREVE_c1c46961',1795782875193,'{}',1795782875168,1795782875193);
CREATE TABLE shortlinks (
    token TEXT PRIMARY KEY,
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    targets TEXT NOT NULL CHECK (json_valid(targets)),
    expires_at INTEGER NOT NULL
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
CREATE TABLE staleness_notices (
    stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    notification_id INTEGER NOT NULL REFERENCES notifications (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE starred_archive (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    plan_ids TEXT NOT NULL CHECK (json_valid(plan_ids)),
    archived_at INTEGER NOT NULL
) STRICT;
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
INSERT INTO "streams" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','starred_projects','1795782875_UEREey_9979fa6b',1795782875180,NULL,NULL,NULL,1795782875269,1795782875275,'changed',NULL,1795782875186,0,1795782874997,1795782875275);
CREATE TABLE watermark_moves (
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    watermark TEXT NOT NULL CHECK (length(watermark) = 26),
    moved_at INTEGER NOT NULL,
    PRIMARY KEY (stream_id, watermark)
) STRICT, WITHOUT ROWID;
INSERT INTO "watermark_moves" VALUES(1,'1795782875_UEREVE_c1c46961',1795782875193);
CREATE TABLE watermarks (
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    poll TEXT NOT NULL,
    watermark TEXT CHECK (length(watermark) = 26),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account, server, poll)
) STRICT, WITHOUT ROWID;
INSERT INTO "watermarks" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','starred_projects','1795782875_UEREVE_c1c46961',1795782875193);
CREATE INDEX idx_settings_updated ON settings (updated_at);
CREATE INDEX idx_starred_archive ON starred_archive (account, archived_at);
CREATE INDEX idx_history_stream ON history (stream_id, finished_at);
CREATE INDEX idx_history_finished ON history (finished_at);
CREATE INDEX idx_outbox_open ON notification_outbox (state, stream_id, jwt_id)
    WHERE state = 'pending' OR state = 'claimed' OR state = 'delivered' OR state = 'dead' OR state = 'evicted';
CREATE INDEX idx_outbox_unacknowledged ON notification_outbox (stream_id, jwt_id)
    WHERE state = 'suppressed' AND acknowledged_at IS NULL AND origin = 'poll';
CREATE INDEX idx_outbox_priority ON notification_outbox
    (stream_id, priority DESC, created_at, jwt_id, state) WHERE state = 'pending';
CREATE INDEX idx_outbox_claimed ON notification_outbox (notification_id, created_at) WHERE state = 'claimed';
CREATE INDEX idx_notifications_open ON notifications (stream_id) WHERE state = 'open';
CREATE INDEX idx_notifications_finished ON notifications (finished_at) WHERE state <> 'open';
CREATE INDEX idx_notifications_repeats ON notifications (repeats) WHERE repeats IS NOT NULL;
CREATE INDEX idx_deliveries_finished ON deliveries (updated_at) WHERE state <> 'pending';
CREATE INDEX idx_deliveries_lost ON deliveries (notification_id) WHERE state IN ('rejected', 'given_up');
CREATE INDEX idx_deliveries_carried ON deliveries (carried_by) WHERE carried_by IS NOT NULL;
CREATE INDEX idx_shortlinks_notification ON shortlinks (notification_id);
CREATE INDEX idx_shortlinks_expiry ON shortlinks (expires_at);
CREATE INDEX idx_staleness_notification ON staleness_notices (notification_id);
CREATE INDEX idx_former_rows ON former_states (row_id) WHERE row_id IS NOT NULL;
CREATE INDEX idx_former_notifications ON former_states (notification_id) WHERE notification_id IS NOT NULL;
CREATE INDEX idx_former_age ON former_states (at);
CREATE INDEX idx_recent_runs_age ON recent_runs (finished_at);
CREATE INDEX idx_quarantine_seen ON quarantine (seen_at);
CREATE INDEX idx_feed_created ON feed (created_at);
CREATE INDEX notif_idx_contents_slot_time ON notif_contents (slot_id, fetched_at DESC);
CREATE INDEX notif_idx_contents_source ON notif_contents (account, source, fetched_at DESC);
CREATE INDEX notif_idx_deliveries_open ON notif_deliveries (account) WHERE status = 'scheduled';
CREATE UNIQUE INDEX idx_signing_keys_active ON signing_keys (account) WHERE state = 'active';
CREATE INDEX idx_data_keys_account ON data_keys (account);
CREATE INDEX idx_journal_created ON journal (created_at);
CREATE INDEX idx_log_level ON log_entries (level, id);
CREATE INDEX idx_leases_due ON leases (due_at);
CREATE VIEW identities (account, generation) AS
    SELECT activeDid, generation FROM active_identity WHERE id = 1 AND activeDid IS NOT NULL
    UNION ALL SELECT account, generation FROM accounts WHERE status = 'active';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('settings',4);
INSERT INTO "sqlite_sequence" VALUES('notification_outbox',8);
INSERT INTO "sqlite_sequence" VALUES('page_fetches',2);
INSERT INTO "sqlite_sequence" VALUES('notifications',1);
INSERT INTO "sqlite_sequence" VALUES('ack_batches',1);
COMMIT;
PRAGMA user_version=10;

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
INSERT INTO "active_identity" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa',1,1796103119372);
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
INSERT INTO "deliveries" VALUES(1,'file','ok',1,NULL,1,0,1796103119406,1796103119410,1796103119410,NULL,NULL,0);
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
INSERT INTO "delivery_attempts" VALUES(1,'file',1,1796103119409,1796103119410,'ok',NULL,NULL,NULL);
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
INSERT INTO "feature_introductions" VALUES('starred_projects',1796103119372);
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
INSERT INTO "history" VALUES(1,1,'run_42cc78abe52c494c',1796103119384,1796103119395,'changed',3,NULL);
INSERT INTO "history" VALUES(2,1,'run_731e0411261d092d',1796103119575,1796103119586,'changed',2,NULL);
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
INSERT INTO "installation" VALUES(1,'38c05856f5531b618abe9a13931d0c1a',X'211B558FA1FF6E4E8CCAADB27E97056384523FB695B8D50669E595661C9B32B4');
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
INSERT INTO "journal" VALUES(1,1796103119422,'action','command:root','polls.run','starred_projects','ok',NULL);
INSERT INTO "journal" VALUES(2,1796103119603,'action','command:root','polls.run','starred_projects','ok',NULL);
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
INSERT INTO "ledger_totals" VALUES('lePH91v0A+VDrJpf',5,2,3,0,0,0,0,0,0,0);
CREATE TABLE list_states (
    stream_id INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    item_key BLOB NOT NULL,
    state TEXT CHECK (state IS NULL OR json_valid(state))
) STRICT;
CREATE TABLE log_entries (
    id INTEGER PRIMARY KEY,
    created_at INTEGER NOT NULL,
    line TEXT NOT NULL,
    level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 0 AND 3),
    run_id TEXT
) STRICT;
INSERT INTO "log_entries" VALUES(1,1796103119391,'{"timestamp":"2026-12-01T05:31:59.391Z","level":"INFO","event":"server.dialect","request_id":"9ab8641e-3299-45a6-8bf8-9906195dad5b","run_id":"run_42cc78abe52c494c","metadata":{"dialect":"canonical","poll":"starred_projects"}}',1,'run_42cc78abe52c494c');
INSERT INTO "log_entries" VALUES(2,1796103119396,'{"timestamp":"2026-12-01T05:31:59.396Z","level":"INFO","event":"poll.changed","request_id":"9ab8641e-3299-45a6-8bf8-9906195dad5b","run_id":"run_42cc78abe52c494c","identity":"did:hash:f85a005f635fed44","change_count":3,"project_count":5,"duration_ms":11,"metadata":{"outcome":"changed","poll":"starred_projects"}}',1,'run_42cc78abe52c494c');
INSERT INTO "log_entries" VALUES(3,1796103119412,'{"timestamp":"2026-12-01T05:31:59.412Z","level":"INFO","event":"notification.delivered","run_id":"run_42cc78abe52c494c","change_count":3,"metadata":{"notification_id":"ntf_df8db4652b7594b54553200a06fe2b57","poll":"starred_projects"}}',1,'run_42cc78abe52c494c');
INSERT INTO "log_entries" VALUES(4,1796103119421,'{"timestamp":"2026-12-01T05:31:59.421Z","level":"INFO","event":"operator.action","metadata":{"actor":"command:root","result":"ok","target":"starred_projects","verb":"polls.run"}}',1,NULL);
INSERT INTO "log_entries" VALUES(5,1796103119587,'{"timestamp":"2026-12-01T05:31:59.587Z","level":"INFO","event":"poll.changed","request_id":"486dd5c7-d554-45f3-9463-f91c082a01ba","run_id":"run_731e0411261d092d","identity":"did:hash:f85a005f635fed44","change_count":2,"project_count":5,"duration_ms":11,"metadata":{"outcome":"changed","poll":"starred_projects"}}',1,'run_731e0411261d092d');
INSERT INTO "log_entries" VALUES(6,1796103119603,'{"timestamp":"2026-12-01T05:31:59.603Z","level":"INFO","event":"operator.action","metadata":{"actor":"command:root","result":"ok","target":"starred_projects","verb":"polls.run"}}',1,NULL);
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
    details TEXT CHECK (details IS NULL OR json_valid(details)),
    UNIQUE (stream_id, jwt_id),
    CHECK (state <> 'claimed' OR notification_id IS NOT NULL),
    CHECK ((finished_at IS NULL) = (state = 'pending' OR state = 'claimed' OR state = 'delivered')),
    CHECK (state NOT IN ('delivered', 'acknowledged') OR delivered_at IS NOT NULL),
    CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
    CHECK (origin = 'poll' OR state = 'suppressed')
) STRICT;
INSERT INTO "notification_outbox" VALUES(1,1,'1796103119_UERE8m_c525a4dd','community_garden_fence','Community Garden Fence','poll','acknowledged',0,0,1,'run_42cc78abe52c494c',1796103119392,1796103119410,1796103119417,1796103119417,NULL,1,'b922e480-0eda-43ed-8cef-b60805394c3a',0,NULL,NULL,0,0,NULL);
INSERT INTO "notification_outbox" VALUES(2,1,'1796103119_UEREIx_08e30f4c','tool_library_shelves','Tool Library Shelves','poll','acknowledged',0,0,1,'run_42cc78abe52c494c',1796103119392,1796103119410,1796103119417,1796103119417,NULL,1,'b922e480-0eda-43ed-8cef-b60805394c3a',0,NULL,NULL,0,0,NULL);
INSERT INTO "notification_outbox" VALUES(3,1,'1796103119_UEREVE_a39f39ef','creek_cleanup_saturday','Creek Cleanup Saturday','poll','acknowledged',0,0,1,'run_42cc78abe52c494c',1796103119392,1796103119410,1796103119417,1796103119417,NULL,1,'b922e480-0eda-43ed-8cef-b60805394c3a',0,NULL,NULL,0,0,NULL);
INSERT INTO "notification_outbox" VALUES(7,1,'1796103119_UEREbT_fdadefaf','repair_cafe_winter_season','Repair Café Winter Season','poll','pending',0,0,NULL,'run_731e0411261d092d',1796103119582,NULL,NULL,NULL,NULL,2,NULL,0,NULL,NULL,0,0,NULL);
INSERT INTO "notification_outbox" VALUES(8,1,'1796103119_UEREey_c68d502c','neighborhood_solar_co_op','Neighborhood Solar Co-op','poll','pending',0,0,NULL,'run_731e0411261d092d',1796103119582,NULL,NULL,NULL,NULL,2,NULL,0,NULL,NULL,0,0,NULL);
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
INSERT INTO "notifications" VALUES(1,'ntf_df8db4652b7594b54553200a06fe2b57',1,'delivered','several',3,'Project Updates','You have 3 new updates in your starred projects',X'7B22616374696F6E5F6C6162656C73223A7B226469736D697373223A224469736D697373222C226D61726B5F72656164223A224D61726B2061732052656164222C22736E6F6F7A655F3168223A22536E6F6F7A65203120486F7572222C22766965775F75706461746573223A22566965772055706461746573227D2C22616374696F6E73223A5B22766965775F75706461746573222C226469736D697373222C22736E6F6F7A655F3168222C226D61726B5F72656164225D2C22626F6479223A22596F7520686176652033206E6577207570646174657320696E20796F757220737461727265642070726F6A65637473222C226368616E676573223A5B7B226368616E6765645F6174223A22323032362D31322D30315430353A33313A35392E3030305A222C226A77745F6964223A22313739363130333131395F55455245386D5F6335323561346464222C226E616D65223A22436F6D6D756E6974792047617264656E2046656E6365222C22706C616E223A22636F6D6D756E6974795F67617264656E5F66656E6365227D2C7B226368616E6765645F6174223A22323032362D31322D30315430353A33313A35392E3030305A222C226A77745F6964223A22313739363130333131395F5545524549785F3038653330663463222C226E616D65223A22546F6F6C204C696272617279205368656C766573222C22706C616E223A22746F6F6C5F6C6962726172795F7368656C766573227D2C7B226368616E6765645F6174223A22323032362D31322D30315430353A33313A35392E3030305A222C226A77745F6964223A22313739363130333131395F5545524556455F6133396633396566222C226E616D65223A22437265656B20436C65616E7570205361747572646179222C22706C616E223A22637265656B5F636C65616E75705F7361747572646179227D5D2C22636F6C6C617073655F6B6579223A22737461727265642D70726F6A65637473222C22636F756E74223A332C22637265617465645F6174223A22323032362D31322D30315430353A33313A35392E3430365A222C22646565705F6C696E6B223A2274696D657361666172693A2F2F70726F6A656374732F757064617465733F6A77744964733D313739363130333131395F55455245386D5F63353235613464642C313739363130333131395F5545524549785F30386533306634632C313739363130333131395F5545524556455F6133396633396566222C2267726F7570223A227365766572616C222C226964223A226E74665F6466386462343635326237353934623534353533323030613036666532623537222C226C6F63616C65223A22656E222C22706F6C6C223A22737461727265645F70726F6A65637473222C2272756E5F6964223A2272756E5F34326363373861626535326334393463222C227469746C65223A2250726F6A6563742055706461746573227D','run_42cc78abe52c494c',1796103119406,1796103119410,NULL);
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
INSERT INTO "page_fetches" VALUES(1,'run_42cc78abe52c494c',1,'9ab8641e-3299-45a6-8bf8-9906195dad5b','9ab8641e-3299-45a6-8bf8-9906195dad5b',1796103119387,1796103119389,1);
INSERT INTO "page_fetches" VALUES(2,'run_731e0411261d092d',1,'486dd5c7-d554-45f3-9463-f91c082a01ba','486dd5c7-d554-45f3-9463-f91c082a01ba',1796103119578,1796103119580,1);
CREATE TABLE plan_snapshots (
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    jwt_id TEXT NOT NULL CHECK (length(jwt_id) = 26),
    fields TEXT NOT NULL CHECK (json_valid(fields)),
    sealed_plan_id TEXT,
    PRIMARY KEY (account, server, plan_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','community_garden_fence','1796103119_UERE8m_c525a4dd','{"name":"Community Garden Fence","description":"The meeting point changed to the north gate.","location":"-14.810000000000002,165.89999999999998","url":"https://example.org/projects/1","start_time":"2025-06-01T00:00:00Z","end_time":"2025-11-28T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','creek_cleanup_saturday','1796103119_UEREVE_a39f39ef','{"name":"Creek Cleanup Saturday","description":"The materials arrived and are stored in the shed.","location":"-38.32,-142.55","start_time":"2025-06-03T00:00:00Z","end_time":"2025-11-30T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','neighborhood_solar_co_op','1796103119_UEREey_c68d502c','{"name":"Neighborhood Solar Co-op","description":"New photos are up, and the next session has a date.","start_time":"2025-06-05T00:00:00Z","end_time":"2025-12-02T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','repair_cafe_winter_season','1796103119_UEREbT_fdadefaf','{"name":"Repair Café Winter Season","description":"Sign-up is open for the last three places.","location":"49.370000000000005,96.07","url":"https://example.org/projects/4","start_time":"2025-06-04T00:00:00Z","end_time":"2025-12-01T00:00:00Z"}',NULL);
INSERT INTO "plan_snapshots" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','tool_library_shelves','1796103119_UEREIx_08e30f4c','{"name":"Tool Library Shelves","description":"Half of the budget is covered. Thank you!","location":"-35.34,87.63","start_time":"2025-06-02T00:00:00Z","end_time":"2025-11-29T00:00:00Z"}',NULL);
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
INSERT INTO "recent_runs" VALUES('run_42cc78abe52c494c','starred_projects',1796103119395,'{"requests":1,"new":3,"finishedAt":1796103119395,"outcome":"changed","runID":"run_42cc78abe52c494c","answer":{"status":200,"requestID":"9ab8641e-3299-45a6-8bf8-9906195dad5b","serverRequestID":"9ab8641e-3299-45a6-8bf8-9906195dad5b","tookMilliseconds":2},"startedAt":1796103119384,"poll":"starred_projects"}');
INSERT INTO "recent_runs" VALUES('run_731e0411261d092d','starred_projects',1796103119586,'{"requests":1,"finishedAt":1796103119586,"answer":{"tookMilliseconds":2,"requestID":"486dd5c7-d554-45f3-9463-f91c082a01ba","status":200,"serverRequestID":"486dd5c7-d554-45f3-9463-f91c082a01ba"},"new":2,"runID":"run_731e0411261d092d","startedAt":1796103119575,"outcome":"changed","poll":"starred_projects"}');
CREATE TABLE removed_accounts (
    account TEXT PRIMARY KEY,
    removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE request_windows (
    account TEXT PRIMARY KEY,
    window BLOB NOT NULL,
    spent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "request_windows" VALUES('did:ethr:0x00000000000000000000000000000000000000aa',X'010000000000000080A41630A2010000030000000000000080A41630A20100000300000000000000',1796103119607);
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
CREATE TABLE seen_items (
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    item BLOB NOT NULL,
    version BLOB NOT NULL,
    rank INTEGER,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (stream_id, item)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "settings" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','["community_garden_fence","tool_library_shelves","creek_cleanup_saturday","repair_cafe_winter_season","neighborhood_solar_co_op"]',1,'1796103119_UEREVE_a39f39ef',1796103119417,'{}',1796103119372,1796103119417);
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
INSERT INTO "streams" VALUES(1,'did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','starred_projects','1796103119_UEREey_c68d502c',1796103119392,NULL,NULL,NULL,1796103119575,1796103119586,'changed',NULL,1796103119406,0,1796103118995,1796103119586);
CREATE TABLE watermark_moves (
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    watermark TEXT NOT NULL CHECK (length(watermark) = 26),
    moved_at INTEGER NOT NULL,
    PRIMARY KEY (stream_id, watermark)
) STRICT, WITHOUT ROWID;
INSERT INTO "watermark_moves" VALUES(1,'1796103119_UEREVE_a39f39ef',1796103119417);
CREATE TABLE watermarks (
    account TEXT NOT NULL,
    server TEXT NOT NULL,
    poll TEXT NOT NULL,
    watermark TEXT CHECK (length(watermark) = 26),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account, server, poll)
) STRICT, WITHOUT ROWID;
INSERT INTO "watermarks" VALUES('did:ethr:0x00000000000000000000000000000000000000aa','https://api.example','starred_projects','1796103119_UEREVE_a39f39ef',1796103119417);
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

extension Mistake {
    /// Sections, addresses, names, lists, numbers and whole files.
    static let values: [Mistake] = [
        Mistake(
            "url space",
            "server:\n  url: \"https://api endorser.ch\"\n",
            ["starwatch.yaml:2: server.url: must be a URL such as https://example.org."]
        ),
        Mistake(
            "listen port",
            "http:\n  listen: 9464\n",
            ["starwatch.yaml:2: http.listen: must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."]
        ),
        Mistake(
            "listen port high",
            "http:\n  listen: 127.0.0.1:99999\n",
            ["starwatch.yaml:2: http.listen: must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."]
        ),
        Mistake(
            "same listen",
            "http:\n  listen: 127.0.0.1:9464\ncontrol: {listen: 127.0.0.1:9464, token_file: t}\n",
            ["starwatch.yaml:3: control.listen: is the address of http.listen; use another port."],
            with: [.file("t", "a token of some length\n", mode: 0o600)]
        ),
        Mistake(
            "control no token",
            "control:\n  listen: 127.0.0.1:9465\n",
            ["starwatch.yaml:2: control.listen: opens the control API on TCP, which needs token_file; add that."]
        ),
        Mistake(
            "no feed token",
            "control:\n  listen: 127.0.0.1:9465\n  token_file: t\n  feed_token_file: feed.token\n",
            [
                "starwatch.yaml:4: control.feed_token_file: there is no file FOLDER/feed.token; make it with starwatch feed url, or correct the path."
            ],
            with: [.file("t", "sixteen letters!\n", mode: 0o600)]
        ),
        Mistake(
            "stored key beside file",
            "auth:\n  kind: did_key\n  stored_keys: true\n  key_file: k\nsecurity:\n  master_key_command: [unwrap]\n",
            ["starwatch.yaml:4: auth.key_file: is given beside stored_keys; remove one of the two."],
            with: [.file("k", "0123", mode: 0o600)]
        ),
        Mistake(
            "short token",
            "control:\n  listen: 127.0.0.1:9465\n  token_file: t\n",
            [
                "starwatch.yaml:3: control.token_file: FOLDER/t has less than 16 bytes, which is easy to guess; write a longer secret."
            ],
            with: [.file("t", "fifteen letters\n", mode: 0o600)]
        ),
        Mistake(
            "typo section",
            "sever:\n  url: https://a.test\n",
            ["starwatch.yaml:1: sever: there is no such setting; did you mean \"server\"?"]
        ),
        Mistake(
            "top sinks",
            "sinks:\n  - {name: log, kind: log}\n",
            ["starwatch.yaml:1: sinks: there is no such setting here; did you mean \"delivery.sinks\"?"]
        ),
        Mistake(
            "quiet hours without an end",
            "delivery:\n  sinks:\n    - {name: a, kind: log, quiet_hours: \"22:00\"}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].quiet_hours: must be two times of the day such as \"22:00-07:00\"."
            ]
        ),
        Mistake(
            "quiet hours of a whole day",
            "delivery:\n  sinks:\n    - name: a\n      kind: log\n      quiet_hours: 07:00-07:00\n",
            [
                "starwatch.yaml:5: delivery.sinks[0].quiet_hours: must begin and end at different times of the day, such as \"22:00-07:00\"."
            ]
        ),
        Mistake(
            "quiet hours and times",
            "delivery:\n  sinks:\n    - {name: a, kind: log, quiet_hours: 22:00-07:00, deliver_at: [\"08:00\"]}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].quiet_hours: cannot be combined with deliver_at; remove one of the two."
            ]
        ),
        Mistake(
            "time of delivery",
            "delivery:\n  sinks:\n    - {name: a, kind: log, deliver_at: [\"8:00\"]}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].deliver_at: must be times of the day such as \"08:00\", in quotes."
            ]
        ),
        Mistake(
            "time of delivery without a list",
            "delivery:\n  sinks:\n    - {name: a, kind: log, deliver_at: \"08:00\"}\n",
            ["starwatch.yaml:3: delivery.sinks[0].deliver_at: must be a list; write [\"08:00\"]."]
        ),
        Mistake(
            "times of delivery as a sentence",
            "delivery:\n  sinks:\n    - {name: a, kind: log, deliver_at: \"daily at 08:00, 17:30\"}\n",
            ["starwatch.yaml:3: delivery.sinks[0].deliver_at: must be a list; write [\"08:00\", \"17:30\"]."]
        ),
        Mistake(
            "zone without hours",
            "delivery:\n  sinks:\n    - {name: a, kind: log, timezone: Europe/Zurich}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].timezone: needs quiet_hours or deliver_at; add one or remove this setting."
            ]
        ),
        Mistake(
            "zone of quiet hours",
            "delivery:\n  sinks:\n    - {name: a, kind: log, quiet_hours: 22:00-07:00, timezone: Europe/Zürich}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].timezone: must be a time zone of the IANA database, such as Europe/Berlin; did you mean \"Europe/Zurich\"?"
            ]
        ),
        Mistake(
            "canary of a sink that people read",
            "delivery:\n  sinks:\n    - name: a\n      kind: stdout\n      canary: true\n",
            [
                "starwatch.yaml:5: delivery.sinks[0].canary: only a sink of kind file, webhook or command has this setting, and this one is of kind stdout; remove it."
            ]
        ),
        Mistake(
            "setting of another kind of sink",
            "delivery:\n  sinks:\n    - {name: a, kind: command, argv: [/bin/true], topic: t}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].topic: only a sink of kind webhook or ntfy has this setting, and this one is of kind command; remove it."
            ]
        ),
        Mistake(
            "top url",
            "url: https://a.test\n",
            ["starwatch.yaml:1: url: there is no such setting here; did you mean \"server.url\"?"]
        ),
        Mistake(
            "top level",
            "level: debug\n",
            ["starwatch.yaml:1: level: there is no such setting here; did you mean \"log.level\"?"]
        ),
        Mistake(
            "wrong section",
            "server:\n  did: did:ethr:0x1\n",
            ["starwatch.yaml:2: server.did: there is no such setting here; did you mean \"identity.did\"?"]
        ),
        Mistake(
            "wrong section 2",
            "server:\n  listen: 127.0.0.1:9464\n",
            [
                "starwatch.yaml:2: server.listen: there is no such setting here; did you mean \"http.listen\" or \"control.listen\"?"
            ]
        ),
        Mistake(
            "key dash",
            "server:\n  max-response: 10MiB\n",
            ["starwatch.yaml:2: server.max-response: there is no such setting; did you mean \"max_response\"?"]
        ),
        Mistake(
            "key camel",
            "server:\n  maxResponse: 10MiB\n",
            ["starwatch.yaml:2: server.maxResponse: there is no such setting; did you mean \"max_response\"?"]
        ),
        Mistake(
            "did wrong",
            "identity:\n  did: \"0x0000000000000000000000000000000000000001\"\n",
            ["starwatch.yaml:2: identity.did: must be a DID such as did:ethr:0x…, or null."]
        ),
        Mistake(
            "did unquoted hex",
            "identity:\n  did: 0x0000000000000000000000000000000000000001\n",
            ["starwatch.yaml:2: identity.did: must be a DID such as did:ethr:0x…, or null."]
        ),
        Mistake(
            "did name",
            "identity:\n  did: alice\n",
            ["starwatch.yaml:2: identity.did: must be a DID such as did:ethr:0x…, or null."]
        ),
        Mistake(
            "plans string",
            "polls:\n  p:\n    kind: starred_projects\n    plan_ids: https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37\n",
            ["starwatch.yaml:4: polls.p.plan_ids: must be a list, such as [a, b]."]
        ),
        Mistake(
            "plans numbers",
            "polls:\n  p:\n    kind: starred_projects\n    plan_ids: [1, 2]\n",
            [
                "starwatch.yaml:4: polls.p.plan_ids[0]: must be text; put it in quotes.",
                "starwatch.yaml:4: polls.p.plan_ids[1]: must be text; put it in quotes.",
            ]
        ),
        Mistake(
            "tz typo",
            "polls:\n  p:\n    kind: starred_projects\n    timezone: Europe/Zuerich\n",
            [
                "starwatch.yaml:4: polls.p.timezone: must be a time zone of the IANA database, such as Europe/Berlin; did you mean \"Europe/Zurich\"?"
            ]
        ),
        Mistake(
            "tz abbrev",
            "polls:\n  p:\n    kind: starred_projects\n    timezone: CET+1\n",
            ["starwatch.yaml:4: polls.p.timezone: must be a time zone of the IANA database, such as Europe/Berlin."]
        ),
        Mistake(
            "anchor",
            "server: &s\n  timeout: 30s\nlog: *s\n",
            ["starwatch.yaml:2: log.timeout: there is no such setting here; did you mean \"server.timeout\"?"]
        ),
        Mistake(
            "merge",
            "x: &d {level: info}\nlog:\n  <<: *d\n",
            [
                "starwatch.yaml:1: x: there is no such setting.",
                "starwatch.yaml:3: log.<<: YAML merges are not supported; write the settings out.",
            ]
        ),
        Mistake(
            "unknown alias",
            "log: *missing\n",
            ["starwatch.yaml:1: has a value that begins with *; quote the value of log."]
        ),
        Mistake(
            "quoted number",
            "outbox:\n  max_undelivered: \"1000\"\n",
            ["starwatch.yaml:2: outbox.max_undelivered: must be a whole number; remove the quotes."]
        ),
        Mistake(
            "number commas",
            "outbox:\n  max_undelivered: 1,000\n",
            ["starwatch.yaml:2: outbox.max_undelivered: must be a whole number; write 1000."]
        ),
        Mistake(
            "null value",
            "server:\n  timeout:\n",
            ["starwatch.yaml:2: server.timeout: must be a duration such as 30s; leave the line out for the default."]
        ),
        Mistake(
            "env",
            "server:\n  url: ${SERVER_URL}\n",
            [
                "starwatch.yaml:2: server.url: is taken as it is, and neither ~ nor variables are replaced; write the value itself."
            ]
        ),
        Mistake(
            "env file",
            "auth: {kind: shared_secret, secret_file: $HOME/secret}\n",
            [
                "starwatch.yaml:1: auth.secret_file: is taken as it is, and neither ~ nor variables are replaced; write the value itself."
            ]
        ),
        Mistake(
            "tilde",
            "storage:\n  path: ~/starwatch.db\n",
            [
                "starwatch.yaml:2: storage.path: is taken as it is, and neither ~ nor variables are replaced; write the value itself."
            ]
        ),
        Mistake(
            "json",
            "{\"server\": {\"timeout\": 30}}\n",
            ["starwatch.yaml:1: server.timeout: '30' is not a duration; write 30s."]
        ),
        Mistake(
            "toml",
            "[server]\nurl = \"https://a.test\"\n",
            ["starwatch.yaml:1: looks like TOML or INI; write \"server:\" with indented \"key: value\" lines below."]
        ),
        Mistake(
            "ini",
            "server.url=https://a.test\n",
            ["starwatch.yaml:1: must have settings as \"section:\" with \"key: value\" lines below."]
        ),
        Mistake(
            "scalar",
            "hello\n",
            ["starwatch.yaml:1: must have settings as \"section:\" with \"key: value\" lines below."]
        ),
        Mistake(
            "auth no file",
            "auth:\n  kind: did_key\n",
            ["starwatch.yaml:2: auth.kind: did_key needs key_file; add it."]
        ),
        Mistake(
            "auth file no kind",
            "auth:\n  key_file: k\n",
            ["starwatch.yaml:2: auth.key_file: is not used with kind none; change kind to did_key, or remove it."],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "auth other file",
            "auth:\n  kind: did_key\n  secret_file: k\n",
            [
                "starwatch.yaml:2: auth.kind: did_key needs key_file; add it.",
                "starwatch.yaml:3: auth.secret_file: is not used with kind did_key; change kind to shared_secret, or remove it.",
            ],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "retries 0",
            "outbox:\n  max_retries: 0\n",
            ["starwatch.yaml:2: outbox.max_retries: must be between 1 and 100."]
        ),
        Mistake(
            "fraction pct",
            "outbox:\n  backpressure_threshold: 80%\n",
            ["starwatch.yaml:2: outbox.backpressure_threshold: must be a number between 0 and 1; write 0.8."]
        ),
        Mistake(
            "fraction 80",
            "outbox:\n  backpressure_threshold: 80\n",
            ["starwatch.yaml:2: outbox.backpressure_threshold: must be a number between 0 and 1; write 0.8."]
        ),
        Mistake(
            "negative",
            "outbox:\n  max_undelivered: -1\n",
            ["starwatch.yaml:2: outbox.max_undelivered: must be between 1 and 1000000."]
        ),
        Mistake(
            "socket long",
            "control:\n  socket: /" + String(repeating: "x", count: 120) + "/s.sock\n",
            [
                "starwatch.yaml:2: control.socket: is too long: a socket's path may have 107 bytes, and its directory 95; choose a shorter one."
            ]
        ),
        Mistake(
            "unclosed quote",
            "server:\n  url: \"https://a.test\n  timeout: 30s\nlog:\n  level: info\n",
            ["starwatch.yaml:2: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "unclosed bracket",
            "delivery:\n  sinks: [{name: log, kind: log}\nlog:\n  level: info\n",
            ["starwatch.yaml:2: opens a bracket and does not close it; add the other bracket or a comma."]
        ),
        Mistake(
            "colon in value",
            "server:\n  user_agent: My agent: v1\n",
            ["starwatch.yaml:2: has a value with a colon and a space; quote the value of user_agent."]
        ),
        Mistake(
            "percent",
            "server:\n  user_agent: %agent\n",
            ["starwatch.yaml:2: has a value that begins with %; quote the value of user_agent."]
        ),
        Mistake(
            "ntp no server",
            "clock: {source: ntp, ntp_servers: []}\n",
            ["starwatch.yaml:1: clock.ntp_servers: must name at least one server, such as [pool.ntp.org]."]
        ),
        Mistake(
            "stale days",
            "polls:\n  p:\n    kind: starred_projects\n    stale_after: 4 hours\n",
            ["starwatch.yaml:4: polls.p.stale_after: '4 hours' is not a duration; write 4h."]
        ),
        Mistake(
            "bootstrap now",
            "polls:\n  p:\n    kind: starred_projects\n    bootstrap: now\n",
            ["starwatch.yaml:4: polls.p.bootstrap: must be one of latest, last_week, beginning."]
        ),
        Mistake(
            "control chars",
            "server:\n  user_agent: \"a\\u0007b\"\n",
            [
                "starwatch.yaml:2: server.user_agent: must be 1 to 200 printable ASCII characters without quotes and backslashes, such as Starwatch/1.0."
            ]
        ),
        Mistake(
            "secret with slashes",
            "auth: {kind: shared_secret, secret_file: /Ab3dEfGh1jKlMn0p/QrStUvWxYz0123456789ABCDE}\n",
            [
                "starwatch.yaml:1: auth.secret_file: there is no such file in FOLDER; the value must be the name of a file that contains the secret."
            ]
        ),
        Mistake(
            "token as duration",
            "server:\n  timeout: eyJhbGciOiJFUzI1NksifQ.eyJzdWIiOiJhIn0.c2ln\n",
            [
                "starwatch.yaml:2: server.timeout: This value is not a duration; write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m."
            ]
        ),
        Mistake(
            "token as url",
            "server:\n  url: eyJhbGciOiJFUzI1NksifQ.eyJzdWIiOiJhIn0.c2ln\n",
            ["starwatch.yaml:2: server.url: must be a URL such as https://example.org."]
        ),
        Mistake("lone word", "hunter2word\nauth:\n  kind: none\n", ["starwatch.yaml:1: must be \"key: value\"."]),
        Mistake(
            "secret that is an alias",
            "auth:\n  kind: shared_secret\n  secret: *hunter2\n",
            [
                "starwatch.yaml:3: has a secret, which never belongs here; write it into a file of its own, and name that file."
            ]
        ),
        Mistake(
            "secret with a colon",
            "auth:\n  kind: shared_secret\n  secret: hunter2: x\n",
            [
                "starwatch.yaml:3: has a secret, which never belongs here; write it into a file of its own, and name that file."
            ]
        ),
        Mistake(
            "secret without a space",
            "auth:\n  kind: shared_secret\n  secret:hunter2\nlog:\n  level: info\n",
            ["starwatch.yaml:3: needs a space after \"secret:\"."]
        ),
        Mistake(
            "word in a section",
            "auth:\n  kind: shared_secret\n  hunter2\nlog:\n  level: info\n",
            ["starwatch.yaml:3: must be \"key: value\"."]
        ),
        Mistake(
            "tab with CRLF",
            "server:\r\n\turl: https://a.test\r\nlog: {}\r\n",
            ["starwatch.yaml:2: is indented with a tab; use spaces."]
        ),
        Mistake(
            "unquoted cron with CRLF",
            "polls:\r\n  p:\r\n    kind: starred_projects\r\n    schedule: */15 * * * *\r\n",
            ["starwatch.yaml:4: has a schedule without quotes; quote the schedule, such as schedule: \"*/15 * * * *\"."]
        ),
        Mistake(
            "section twice with CRLF",
            "server: {}\r\nlog: {}\r\nserver: {}\r\n",
            ["starwatch.yaml:3: server: is given twice, first on line 1; remove one."]
        ),
        Mistake(
            "unclosed quote below a comment with one",
            "server: # 5\" disk\n  url: \"https://a.test\nlog:\n  level: info\n",
            ["starwatch.yaml:2: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "unclosed single quote",
            "log: # don't\n  level: 'info\nserver: {}\n",
            ["starwatch.yaml:2: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "did as identity",
            "identity: did:ethr:0x0000000000000000000000000000000000000001\n",
            ["starwatch.yaml:1: identity: must be a section: settings as \"key: value\" below it."]
        ),
        Mistake(
            "interval as schedule",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: 15m\n",
            ["starwatch.yaml:4: polls.p.schedule: must be five fields; for an interval write every: 15m."]
        ),
        Mistake(
            "setting of another section in a poll",
            "polls:\n  p:\n    kind: starred_projects\n    interval: 15m\n",
            ["starwatch.yaml:4: polls.p.interval: there is no such setting; did you mean \"every\"?"]
        ),
    ]
}

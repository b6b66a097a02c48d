extension Mistake {
    /// Schedules, units, indentation, secrets, levels and the form of the file.
    static let forms: [Mistake] = [
        Mistake(
            "unquoted cron",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: */15 * * * *\n",
            ["starwatch.yaml:4: has a schedule without quotes; quote the schedule, such as schedule: \"*/15 * * * *\"."]
        ),
        Mistake(
            "hourly",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"@hourly\"\n",
            ["starwatch.yaml:4: polls.p.schedule: must be five fields; write \"0 * * * *\"."]
        ),
        Mistake(
            "six fields",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"0 */15 * * * *\"\n",
            [
                "starwatch.yaml:4: polls.p.schedule: A schedule has five fields (minute hour day-of-month month day-of-week), but this one has 6; remove the field for seconds."
            ]
        ),
        Mistake(
            "four fields",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"*/15 * * *\"\n",
            [
                "starwatch.yaml:4: polls.p.schedule: A schedule has five fields (minute hour day-of-month month day-of-week), but this one has 4."
            ]
        ),
        Mistake(
            "step 0",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"*/0 * * * *\"\n",
            [
                "starwatch.yaml:4: polls.p.schedule: The minute field of the schedule has '*/0'; its step must be a number from 1 to 60."
            ]
        ),
        Mistake(
            "minute 60",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"60 * * * *\"\n",
            [
                "starwatch.yaml:4: polls.p.schedule: The minute field of the schedule has '60'; it accepts 0-59, lists, ranges, and '*'."
            ]
        ),
        Mistake(
            "feb 30",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"0 0 30 2 *\"\n",
            [
                "starwatch.yaml:4: polls.p.schedule: The schedule never fires: its day-of-month field names days that its month field (1-12) does not have."
            ]
        ),
        Mistake(
            "both",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"* * * * *\"\n    every: 5m\n",
            ["starwatch.yaml:5: polls.p.every: cannot be combined with schedule; keep one of the two."]
        ),
        Mistake(
            "every short",
            "polls:\n  p:\n    kind: starred_projects\n    every: 500ms\n",
            ["starwatch.yaml:4: polls.p.every: must be at least 1s."]
        ),
        Mistake(
            "every words",
            "polls:\n  p:\n    kind: starred_projects\n    every: 5 minutes\n",
            ["starwatch.yaml:4: polls.p.every: '5 minutes' is not a duration; write 5m."]
        ),
        Mistake(
            "unit 30sec",
            "server:\n  timeout: 30sec\n",
            ["starwatch.yaml:2: server.timeout: '30sec' is not a duration; write 30s."]
        ),
        Mistake(
            "timeout number",
            "server:\n  timeout: 30\n",
            ["starwatch.yaml:2: server.timeout: '30' is not a duration; write 30s."]
        ),
        Mistake(
            "size MB",
            "server:\n  max_response: 10MB\n",
            ["starwatch.yaml:2: server.max_response: '10MB' is not a size; write 10MiB."]
        ),
        Mistake(
            "bad indent",
            "server:\n  url: https://a.test\n   timeout: 30s\n",
            ["starwatch.yaml:3: is indented by 3 spaces; the lines of its section are indented by 2."]
        ),
        Mistake(
            "bad indent 2",
            "server:\n    url: https://a.test\n  timeout: 30s\n",
            ["starwatch.yaml:3: is indented by 2 spaces; the lines of its section are indented by 4."]
        ),
        Mistake(
            "bad indent list",
            "delivery:\n  sinks:\n    - name: log\n     kind: log\n",
            ["starwatch.yaml:4: is indented by 5 spaces; the lines of its section are indented by 6."]
        ),
        Mistake(
            "bad indent key less",
            "polls:\n  p:\n  kind: starred_projects\n",
            [
                "starwatch.yaml:2: polls.p: needs a kind: one of \(kinds).",
                "starwatch.yaml:3: polls.kind: is a setting of one of the polls; indent it below that one's name.",
            ]
        ),
        Mistake(
            "section unindented",
            "server:\nurl: https://a.test\n",
            ["starwatch.yaml:2: url: there is no such setting here; did you mean \"server.url\"?"]
        ),
        Mistake("tab", "server:\n\turl: https://a.test\n", ["starwatch.yaml:2: is indented with a tab; use spaces."]),
        Mistake(
            "tab after key",
            "server:\turl: https://a.test\n",
            ["starwatch.yaml:1: has a tab after a colon; use a space or a new line."]
        ),
        Mistake(
            "no space after colon",
            "server:\n  url:https://a.test\n",
            ["starwatch.yaml:2: server: needs a space after \"url:\"."]
        ),
        Mistake(
            "missing colon",
            "server\n  url: https://a.test\n",
            ["starwatch.yaml:1: has no colon; write \"server:\"."]
        ),
        Mistake(
            "inline token auth",
            "auth:\n  kind: token_pool\n  token: eyJhbGciOi.abc.def\n",
            [
                "starwatch.yaml:2: auth.kind: token_pool needs tokens_file; add it.",
                "starwatch.yaml:3: auth.token: is a secret, which never belongs here; write it into a file of its own, and name that: tokens_file: FILE.",
            ]
        ),
        Mistake(
            "inline secret",
            "auth:\n  kind: shared_secret\n  secret: hunter2hunter2\n",
            [
                "starwatch.yaml:2: auth.kind: shared_secret needs secret_file; add it.",
                "starwatch.yaml:3: auth.secret: is a secret, which never belongs here; write it into a file of its own, and name that: secret_file: FILE.",
            ]
        ),
        Mistake(
            "inline key",
            "auth:\n  kind: did_key\n  key: " + String(repeating: "1", count: 64) + "\n",
            [
                "starwatch.yaml:2: auth.kind: did_key needs key_file; add it.",
                "starwatch.yaml:3: auth.key: is a secret, which never belongs here; write it into a file of its own, and name that: key_file: FILE.",
            ]
        ),
        Mistake(
            "inline secret in file key",
            "auth:\n  kind: shared_secret\n  secret_file: hunter2hunter2\n",
            [
                "starwatch.yaml:3: auth.secret_file: there is no such file in FOLDER; the value must be the name of a file that contains the secret."
            ]
        ),
        Mistake(
            "inline jwt in file",
            "auth:\n  kind: token_pool\n  tokens_file: eyJhbGciOiJFUzI1NksifQ.eyJzdWIiOiJhIn0.c2ln\n",
            [
                "starwatch.yaml:3: auth.tokens_file: there is no such file in FOLDER; the value must be the name of a file that contains the secret."
            ]
        ),
        Mistake(
            "inline key in file",
            "auth:\n  kind: did_key\n  key_file: " + String(repeating: "1", count: 64) + "\n",
            ["starwatch.yaml:3: auth.key_file: must be the name of a file with the secret."]
        ),
        Mistake(
            "control token inline",
            "control:\n  listen: 127.0.0.1:1\n  token: abc\n",
            [
                "starwatch.yaml:2: control.listen: opens the control API on TCP, which needs token_file; add that.",
                "starwatch.yaml:3: control.token: is a secret, which never belongs here; write it into a file of its own, and name that: token_file: FILE.",
            ]
        ),
        Mistake(
            "ntfy token inline",
            "delivery:\n  sinks:\n    - {name: n, kind: ntfy, url: https://n.test, topic: t, token: abc}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].token: is a secret, which never belongs here; write it into a file of its own, and name that: token_file: FILE."
            ]
        ),
        Mistake(
            "webhook secret inline",
            "delivery:\n  sinks:\n    - {name: n, kind: webhook, url: https://n.test, secret: abc}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].secret: is a secret, which never belongs here; write it into a file of its own, and name that: secret_file: FILE."
            ]
        ),
        Mistake(
            "password",
            "auth: {kind: shared_secret, password: abc}\n",
            [
                "starwatch.yaml:1: auth.password: is a secret, which never belongs here; write it into a file of its own, and name that: secret_file: FILE.",
                "starwatch.yaml:1: auth.kind: shared_secret needs secret_file; add it.",
            ]
        ),
        Mistake(
            "WARNING",
            "log:\n  level: WARNING\n",
            [
                "starwatch.yaml:2: log.level: must be one of trace, debug, info, notice, warning, error, critical; did you mean \"warning\"?"
            ]
        ),
        Mistake(
            "verbose",
            "log: {level: verbose}\n",
            ["starwatch.yaml:1: log.level: must be one of trace, debug, info, notice, warning, error, critical."]
        ),
        Mistake(
            "bool yes",
            "polls:\n  p:\n    kind: starred_projects\n    quarantine_invalid: yes\n",
            ["starwatch.yaml:4: polls.p.quarantine_invalid: must be true, false or after 3; write true."]
        ),
        Mistake(
            "bool quoted",
            "polls:\n  p:\n    kind: starred_projects\n    quarantine_invalid: \"true\"\n",
            ["starwatch.yaml:4: polls.p.quarantine_invalid: must be true, false or after 3; remove the quotes."]
        ),
        Mistake(
            "dir as file",
            "auth: {kind: shared_secret, secret_file: dir}\n",
            ["starwatch.yaml:1: auth.secret_file: FOLDER/dir is a directory; name a file instead."],
            with: [.folder("dir")]
        ),
        Mistake(
            "missing secret",
            "auth: {kind: shared_secret, secret_file: secrets/shared.secret}\n",
            [
                "starwatch.yaml:1: auth.secret_file: there is no file FOLDER/secrets/shared.secret; create it or correct the path."
            ]
        ),
        Mistake(
            "missing secret bare",
            "auth: {kind: shared_secret, secret_file: shared.secret}\n",
            [
                "starwatch.yaml:1: auth.secret_file: there is no file FOLDER/shared.secret; create it or correct the path."
            ]
        ),
        Mistake(
            "open secret",
            "auth: {kind: shared_secret, secret_file: s}\n",
            [
                "starwatch.yaml:1: auth.secret_file: FOLDER/s can be read or changed by other users; run chmod 600 on it."
            ],
            with: [.file("s", String(repeating: "x", count: 32), mode: 0o644)]
        ),
        Mistake(
            "empty secret",
            "auth: {kind: shared_secret, secret_file: s}\n",
            ["starwatch.yaml:1: auth.secret_file: FOLDER/s is empty; write the content or correct the path."],
            with: [.file("s", "", mode: 0o600)]
        ),
        Mistake(
            "blank line after a secret",
            "auth: {kind: shared_secret, secret_file: s}\n",
            [
                "starwatch.yaml:1: auth.secret_file: FOLDER/s cannot be used; it has a byte order mark, spaces or blank lines around the secret; remove them."
            ],
            with: [.file("s", String(repeating: "x", count: 32) + "\n\n", mode: 0o600)]
        ),
        Mistake(
            "comment above a token",
            "delivery: {sinks: [{name: n, kind: ntfy, url: https://a.test, topic: t, token_file: s}]}\n",
            [
                "starwatch.yaml:1: delivery.sinks[0].token_file: FOLDER/s cannot be used; it must have one token of printable ASCII; remove spaces and other lines."
            ],
            with: [.file("s", "# of the phone\ntk_abc\n", mode: 0o600)]
        ),
        Mistake(
            "login of a proxy without a password",
            "server: {proxy: \"http://proxy.test:3128\", proxy_login_file: s}\n",
            [
                "starwatch.yaml:1: server.proxy_login_file: FOLDER/s cannot be used; it must have the form user:password; correct it."
            ],
            with: [.file("s", "me\n", mode: 0o600)]
        ),
        Mistake(
            "login without a proxy",
            "delivery: {sinks: [{name: w, kind: webhook, url: https://a.test, proxy_login_file: s}]}\n",
            [
                "starwatch.yaml:1: delivery.sinks[0].proxy_login_file: is the login at proxy, which is missing; add that, or remove this setting."
            ],
            with: [.file("s", "me:word\n", mode: 0o600)]
        ),
        Mistake(
            "missing ca",
            "server: {ca_file: /etc/ssl/nope.pem}\n",
            ["starwatch.yaml:1: server.ca_file: there is no file /etc/ssl/nope.pem; create it or correct the path."]
        ),
        Mistake(
            "ca dir",
            "server: {ca_file: dir}\n",
            ["starwatch.yaml:1: server.ca_file: FOLDER/dir is a directory; name a file instead."],
            with: [.folder("dir")]
        ),
        Mistake(
            "bom",
            bytes: [
                239, 187, 191, 115, 101, 114, 118, 101, 114, 58, 10, 32, 32, 116, 105, 109, 101, 111, 117, 116, 58, 32,
                51, 48, 10,
            ],
            ["starwatch.yaml:2: server.timeout: '30' is not a duration; write 30s."]
        ),
        Mistake(
            "latin1",
            bytes: [
                115, 101, 114, 118, 101, 114, 58, 10, 32, 32, 117, 115, 101, 114, 95, 97, 103, 101, 110, 116, 58, 32,
                99, 97, 102, 233, 10,
            ],
            ["starwatch.yaml: is not UTF-8; save it in that encoding."]
        ),
        Mistake(
            "utf16",
            bytes: [
                255, 254, 115, 0, 101, 0, 114, 0, 118, 0, 101, 0, 114, 0, 58, 0, 10, 0, 32, 0, 32, 0, 116, 0, 105, 0,
                109, 0, 101, 0, 111, 0, 117, 0, 116, 0, 58, 0, 32, 0, 51, 0, 48, 0, 115, 0, 10, 0,
            ],
            ["starwatch.yaml: is not UTF-8; save it in that encoding."]
        ),
        Mistake(
            "two docs",
            "server:\n  timeout: 30s\n---\nlog:\n  level: info\n",
            ["starwatch.yaml:3: begins a second document; keep one, and remove \"---\"."]
        ),
        Mistake(
            "dup key",
            "log:\n  level: info\n  level: debug\n",
            ["starwatch.yaml:3: level: is given twice, first on line 2; remove one."]
        ),
        Mistake(
            "sinks map",
            "delivery:\n  sinks:\n    log:\n      kind: log\n",
            [
                "starwatch.yaml:2: delivery.sinks: must be a list of sinks; begin each with \"- name: NAME\" and \"kind: KIND\" below it."
            ]
        ),
        Mistake(
            "sinks names",
            "delivery:\n  sinks: [log]\n",
            ["starwatch.yaml:2: delivery.sinks[0]: must have a name and a kind, such as {name: log, kind: log}."]
        ),
        Mistake(
            "polls list",
            "polls:\n  - name: p\n    kind: starred_projects\n",
            ["starwatch.yaml:1: polls: must be a section with a name for each of them, such as \"mine:\", and no list."]
        ),
        Mistake(
            "polls no kind",
            "polls:\n  p:\n    every: 5m\n",
            [
                "starwatch.yaml:2: polls.p: needs a kind: one of \(kinds)."
            ]
        ),
        Mistake(
            "kind typo",
            "polls:\n  p:\n    kind: starred_project\n",
            [
                "starwatch.yaml:3: polls.p.kind: must be one of \(kinds); did you mean \"starred_projects\"?"
            ]
        ),
        Mistake(
            "poll name dash",
            "polls:\n  my-poll:\n    kind: starred_projects\n",
            [
                "starwatch.yaml:2: polls.my-poll: must have a name of lower-case letters, digits and _, starting with a letter, at most 63 long."
            ]
        ),
        Mistake(
            "sink kind typo",
            "delivery:\n  sinks:\n    - {name: a, kind: web_hook}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].kind: must be one of stdout, log, feed, file, webhook, ntfy, email, command; did you mean \"webhook\"?"
            ]
        ),
        Mistake(
            "sink no name",
            "delivery:\n  sinks:\n    - kind: log\n",
            ["starwatch.yaml:3: delivery.sinks[0]: needs a name."]
        ),
        Mistake(
            "sink email",
            "delivery:\n  sinks:\n    - {name: a, kind: email}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0]: a sink of kind email needs url; add it.",
                "starwatch.yaml:3: delivery.sinks[0]: a sink of kind email needs from; add it.",
                "starwatch.yaml:3: delivery.sinks[0]: a sink of kind email needs to; add it.",
            ]
        ),
        Mistake(
            "sink dup",
            "delivery:\n  sinks:\n    - {name: a, kind: log}\n    - {name: a, kind: stdout}\n",
            ["starwatch.yaml:4: delivery.sinks[1].name: is the name of another sink; choose a different one."]
        ),
        Mistake(
            "sink empty",
            "delivery:\n  sinks: []\n",
            ["starwatch.yaml:2: delivery.sinks: must name at least one sink."]
        ),
        Mistake(
            "webhook no url",
            "delivery:\n  sinks:\n    - {name: a, kind: webhook}\n",
            ["starwatch.yaml:3: delivery.sinks[0]: a sink of kind webhook needs url or url_file; add one of the two."]
        ),
        Mistake(
            "command string",
            "delivery:\n  sinks:\n    - {name: a, kind: command, argv: /usr/bin/notify --x}\n",
            ["starwatch.yaml:3: delivery.sinks[0].argv: must be a list, such as [a, b]."]
        ),
        Mistake(
            "command relative",
            "delivery:\n  sinks:\n    - {name: a, kind: command, argv: []}\n",
            ["starwatch.yaml:3: delivery.sinks[0].argv: must name a program."]
        ),
        Mistake(
            "url no scheme",
            "server:\n  url: api.endorser.ch\n",
            ["starwatch.yaml:2: server.url: must be a URL such as https://api.endorser.ch."]
        ),
        Mistake(
            "url creds",
            "server:\n  url: https://user:pw@api.endorser.ch\n",
            [
                "starwatch.yaml:2: server.url: must not contain a user or password; credentials belong in a file of their own."
            ]
        ),
        Mistake(
            "url http remote",
            "server:\n  url: http://api.endorser.ch\n",
            [
                "starwatch.yaml:2: server.url: must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
            ]
        ),
        Mistake(
            "url query",
            "server:\n  url: https://api.endorser.ch/?x=1\n",
            ["starwatch.yaml:2: server.url: must end with its path; remove what follows ?."]
        ),
    ]
}

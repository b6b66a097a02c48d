extension Mistake {
    /// Names of other programs, placeholders, and values of another kind.
    static let names: [Mistake] = [
        Mistake(
            "unclosed quote in a flow",
            "server:\n  url: https://a.test\ndelivery:\n  sinks:\n    - {name: x, kind: ntfy, url: \"https://n.test, topic: t}\nlog:\n  level: info\n",
            ["starwatch.yaml:5: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "cron as a key",
            "polls:\n  p:\n    kind: starred_projects\n    cron: \"0 * * * *\"\n",
            ["starwatch.yaml:4: polls.p.cron: there is no such setting; did you mean \"schedule\"?"]
        ),
        Mistake(
            "interval as a key of another program",
            "polls:\n  p:\n    kind: starred_projects\n    interval: 5m\n",
            ["starwatch.yaml:4: polls.p.interval: there is no such setting; did you mean \"every\"?"]
        ),
        Mistake(
            "misspelt variable",
            "digests:\n  d:\n    times: [\"08:00\"]\n    poll: starred_projects\n    body: \"{{cuont}} changes\"\n",
            ["starwatch.yaml:5: digests.d.body: has an unknown variable; did you mean {{count}}?"]
        ),
        Mistake(
            "variable in single braces",
            "digests:\n  d:\n    times: [\"08:00\"]\n    poll: starred_projects\n    body: \"{count} changes\"\n",
            ["starwatch.yaml:5: digests.d.body: has a variable in single braces; write {{count}}."]
        ),
        Mistake(
            "lead longer than ttl",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    lead: 1h\n    ttl: 1m\n",
            [
                "starwatch.yaml:6: digests.d.ttl: is shorter than lead, so the content is too old when it is shown; raise ttl."
            ]
        ),
        Mistake(
            "secret file beside key file",
            "auth:\n  kind: did_key\n  key_file: k\n  secret_file: k\n",
            [
                "starwatch.yaml:4: auth.secret_file: is not used with kind did_key; change kind to shared_secret, or remove it."
            ],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "database path that is a folder",
            "storage:\n  path: /tmp\n",
            ["starwatch.yaml:2: storage.path: is a folder; add the name of the file."]
        ),
        Mistake(
            "sink path that is a folder",
            "delivery:\n  sinks:\n    - {name: f, kind: file, path: /tmp}\n",
            ["starwatch.yaml:3: delivery.sinks[0].path: is a folder; add the name of the file."]
        ),
        Mistake(
            "sink path that is the database",
            "storage: {path: a.db}\ndelivery:\n  sinks:\n    - {name: f, kind: file, path: a.db}\n",
            ["starwatch.yaml:4: delivery.sinks[0].path: is the file of the database; choose another path."]
        ),
        Mistake(
            "sink path that is the black box",
            "storage: {path: a.db}\ndelivery:\n  sinks:\n    - {name: f, kind: file, path: a.db.blackbox}\n",
            ["starwatch.yaml:4: delivery.sinks[0].path: is a file of the database; choose another path."]
        ),
        Mistake(
            "sink path that is the configuration",
            "delivery:\n  sinks:\n    - {name: f, kind: file, path: starwatch.yaml}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].path: is the file of the configuration or of a secret; choose another path."
            ]
        ),
        Mistake(
            "sink path that is a secret",
            """
            auth: {kind: shared_secret, secret_file: s}
            delivery:
              sinks:
                - {name: f, kind: file, path: ./s}

            """,
            ["starwatch.yaml:4: delivery.sinks[0].path: is the file of a secret; choose another path."],
            with: [.file("s", String(repeating: "s", count: 32), mode: 0o600)]
        ),
        Mistake(
            "sink path that is the socket",
            "control: {socket: x}\ndelivery:\n  sinks:\n    - {name: f, kind: file, path: x}\n",
            ["starwatch.yaml:4: delivery.sinks[0].path: is the control socket; choose another path."]
        ),
        Mistake(
            "two sinks with one file",
            "delivery:\n  sinks:\n    - {name: f, kind: file, path: x}\n    - {name: g, kind: file, path: ./x}\n",
            ["starwatch.yaml:4: delivery.sinks[1].path: is the file of another sink; choose another path."]
        ),
        Mistake(
            "database path that is the configuration",
            "storage:\n  path: starwatch.yaml\n",
            ["starwatch.yaml:2: storage.path: is the file of the configuration or of a secret; choose another path."]
        ),
        Mistake(
            "command as text",
            "delivery:\n  sinks:\n    - {name: c, kind: command, argv: \"/bin/cat -n\"}\n",
            ["starwatch.yaml:3: delivery.sinks[0].argv: must be a list, such as [a, b]."]
        ),
        Mistake(
            "did one digit short",
            "identity:\n  did: did:ethr:0x00000000000000000000000000000000000000a\nauth: {kind: did_key, key_file: k}\n",
            [
                "starwatch.yaml:2: identity.did: must end with 0x and 40 hexadecimal digits, but it has 39 digits; copy the DID from the app."
            ],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "did with a placeholder",
            "identity:\n  did: did:ethr:0xYOUR\n",
            [
                "starwatch.yaml:2: identity.did: still has a placeholder; write your own DID, as the app shows it."
            ]
        ),
        Mistake(
            "did with an ellipsis",
            "identity:\n  did: did:ethr:0x…\n",
            ["starwatch.yaml:2: identity.did: must be a DID such as did:ethr:0x…, or null."]
        ),
        Mistake(
            "times as a word",
            "digests:\n  d:\n    times: 08:00\n    fetch: {url: \"https://a.test\"}\n",
            ["starwatch.yaml:3: digests.d.times: must be a list; write [\"08:00\"]."]
        ),
        Mistake(
            "time without quotes",
            "digests:\n  d:\n    times: [8:00]\n    fetch: {url: \"https://a.test\"}\n",
            ["starwatch.yaml:3: digests.d.times: must be times of the day such as \"08:00\", in quotes."]
        ),
        Mistake(
            "time 24:00",
            "digests:\n  d:\n    times: [\"24:00\"]\n    fetch: {url: \"https://a.test\"}\n",
            ["starwatch.yaml:3: digests.d.times: must be times of the day such as \"08:00\", in quotes."]
        ),
        Mistake(
            "digest without content",
            "digests:\n  d:\n    times: [\"08:00\"]\n",
            ["starwatch.yaml:2: digests.d: needs the source of its content: poll: NAME, or fetch with a url; add one."]
        ),
        Mistake(
            "digest of an unknown poll",
            "digests:\n  d:\n    times: [\"08:00\"]\n    poll: starred\n",
            ["starwatch.yaml:4: digests.d.poll: is not one of the polls; did you mean \"starred_projects\"?"]
        ),
        Mistake(
            "socket path that is the database",
            "control:\n  socket: a.db\nstorage:\n  path: a.db\n",
            ["starwatch.yaml:2: control.socket: is the file of the database; choose another path."]
        ),
        Mistake(
            "socket path that is a folder",
            "control:\n  socket: /tmp\n",
            ["starwatch.yaml:2: control.socket: is a folder; add the name of the file."]
        ),
        Mistake(
            "ntfy topic in the URL",
            "delivery:\n  sinks:\n    - {name: n, kind: ntfy, url: https://ntfy.sh/topic}\n",
            ["starwatch.yaml:3: delivery.sinks[0]: a sink of kind ntfy needs topic; add it."]
        ),
        Mistake(
            "webhook without TLS",
            "delivery:\n  sinks:\n    - {name: n, kind: webhook, url: http://hooks.test}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].url: must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
            ]
        ),
        Mistake(
            "sink kind of another service",
            "delivery:\n  sinks:\n    - {name: n, kind: slack}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].kind: must be one of stdout, log, feed, file, webhook, ntfy, email, command."
            ]
        ),
        Mistake(
            "sink kind mail",
            "delivery:\n  sinks:\n    - {name: n, kind: mail}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].kind: must be one of stdout, log, feed, file, webhook, ntfy, email, command; did you mean \"email\"?"
            ]
        ),
        Mistake(
            "sink without a name",
            "delivery:\n  sinks:\n    - {kind: log}\n",
            ["starwatch.yaml:3: delivery.sinks[0]: needs a name."]
        ),
        Mistake(
            "poll kind cut short",
            "polls:\n  p:\n    kind: starred\n",
            [
                "starwatch.yaml:3: polls.p.kind: must be one of \(kinds); did you mean \"starred_projects\"?"
            ]
        ),
        Mistake(
            "enabled",
            "outbox:\n  enabled: false\n",
            [
                "starwatch.yaml:2: outbox.enabled: there is no such setting; to switch this off, remove the whole part."
            ]
        ),
        Mistake(
            "server with the path of its API",
            "server:\n  url: https://api.endorser.ch/api/v2/report\n",
            [
                "starwatch.yaml:2: server.url: must be the server's address without the path of its API, such as https://api.endorser.ch."
            ]
        ),
        Mistake(
            "server with a query",
            "server:\n  url: https://api.endorser.ch?x=1\n",
            ["starwatch.yaml:2: server.url: must end with its path; remove what follows ?."]
        ),
        Mistake(
            "every 0",
            "polls:\n  p:\n    kind: starred_projects\n    every: 0s\n",
            ["starwatch.yaml:4: polls.p.every: must be at least 1s."]
        ),
        Mistake(
            "every negative",
            "polls:\n  p:\n    kind: starred_projects\n    every: -5m\n",
            [
                "starwatch.yaml:4: polls.p.every: '-5m' is not a duration; write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m."
            ]
        ),
        Mistake(
            "every with a fraction",
            "polls:\n  p:\n    kind: starred_projects\n    every: 1.5h\n",
            [
                "starwatch.yaml:4: polls.p.every: '1.5h' is not a duration; write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m."
            ]
        ),
    ]
}

extension Mistake {
    /// Values beyond their limits, and settings that do not fit together.
    static let limits: [Mistake] = [
        Mistake(
            "time zone as an offset",
            "polls:\n  p:\n    kind: starred_projects\n    timezone: UTC+1\n",
            [
                "starwatch.yaml:4: polls.p.timezone: must be a time zone of the IANA database, such as Europe/Berlin; offsets follow no summer time."
            ]
        ),
        Mistake(
            "capitals",
            "Server:\n  Url: https://a.test\n",
            ["starwatch.yaml:1: Server: there is no such setting; did you mean \"server\"?"]
        ),
        Mistake(
            "path of Windows",
            "storage:\n  path: C:\\starwatch.db\n",
            ["starwatch.yaml:2: storage.path: is a path of Windows; write one such as /srv/file."]
        ),
        Mistake(
            "path of the kernel",
            "storage:\n  path: /proc/starwatch.db\ncontrol:\n  socket: /sys/x.sock\n",
            [
                "starwatch.yaml:2: storage.path: is in /proc, where the kernel keeps no file; name a folder of a disk.",
                "starwatch.yaml:4: control.socket: is in /sys, where the kernel keeps no file; name a folder of a disk.",
            ]
        ),
        Mistake(
            "no sinks",
            "delivery:\n  sinks:\n",
            [
                "starwatch.yaml:2: delivery.sinks: is empty; add a sink below it, or remove the line for a sink that logs."
            ]
        ),
        Mistake(
            "path as a URL",
            "storage:\n  path: file:///var/lib/x.db\n",
            ["starwatch.yaml:2: storage.path: must be a path without file:, such as /var/lib/starwatch/starwatch.db."]
        ),
        Mistake(
            "systemd specifier",
            "storage:\n  path: \"%h/x.db\"\n",
            ["starwatch.yaml:2: storage.path: has a placeholder, which nothing replaces; write the value itself."]
        ),
        Mistake(
            "template of a configuration tool",
            "server:\n  url: \"{{ server_url }}\"\n",
            ["starwatch.yaml:2: server.url: has a placeholder, which nothing replaces; write the value itself."]
        ),
        Mistake(
            "template of a configuration tool without quotes",
            "server:\n  url: {{ server_url }}\n",
            ["starwatch.yaml:2: server.url: begins with {{, which YAML reads as a mapping; put the value in quotes."]
        ),
        Mistake(
            "listen without a port",
            "http:\n  listen: 127.0.0.1\n",
            ["starwatch.yaml:2: http.listen: must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."]
        ),
        Mistake(
            "listen as a URL",
            "http:\n  listen: http://127.0.0.1:9464\n",
            ["starwatch.yaml:2: http.listen: must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."]
        ),
        Mistake(
            "listen with a negative port",
            "http:\n  listen: 127.0.0.1:-1\n",
            ["starwatch.yaml:2: http.listen: must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."]
        ),
        Mistake(
            "host as a URL",
            "http:\n  allowed_hosts: [\"https://a.test\"]\n",
            ["starwatch.yaml:2: http.allowed_hosts: must be names without a port, such as agent.internal."]
        ),
        Mistake(
            "hosts as a word",
            "http:\n  allowed_hosts: a.test\n",
            ["starwatch.yaml:2: http.allowed_hosts: must be a list, such as [a, b]."]
        ),
        Mistake(
            "dashboards without a scheme",
            "http:\n  dashboards_url: grafana.test\n",
            ["starwatch.yaml:2: http.dashboards_url: must be a URL such as https://grafana.example.org/dashboards."]
        ),
        Mistake(
            "pin with one slash",
            "server:\n  pinned_public_key: \"sha256/abc\"\n",
            [
                "starwatch.yaml:2: server.pinned_public_key: must be sha256// and the key's SHA-256 digest in base64, as in libcurl."
            ]
        ),
        Mistake(
            "refresh without a unit",
            "auth:\n  refresh_before: 10\n",
            ["starwatch.yaml:2: auth.refresh_before: '10' is not a duration; write 10s."]
        ),
        Mistake(
            "lifetime in words",
            "auth:\n  lifetime: 1 hour\n",
            ["starwatch.yaml:2: auth.lifetime: '1 hour' is not a duration; write 1h."]
        ),
        Mistake(
            "acknowledge on",
            "acknowledge:\n  mode: on\n",
            ["starwatch.yaml:2: acknowledge.mode: must be one of auto, server, local."]
        ),
        Mistake(
            "eviction lru",
            "outbox:\n  eviction: lru\n",
            ["starwatch.yaml:2: outbox.eviction: must be one of fifo, lifo, priority."]
        ),
        Mistake(
            "storage of root",
            "storage:\n  owner: root\n",
            ["starwatch.yaml:2: storage.owner: must be one of agent, host."]
        ),
        Mistake(
            "heartbeat each second",
            "callbacks:\n  heartbeat: {url: \"https://a.test\", interval: 1s}\n",
            ["starwatch.yaml:2: callbacks.heartbeat.interval: must be at least 1m."]
        ),
        Mistake(
            "canary without a sink",
            "canary:\n  every: 1m\n",
            [
                "starwatch.yaml:2: canary.every: needs a sink with canary: true, of kind webhook, file or command; add it."
            ]
        ),
        Mistake(
            "canary to a log",
            "delivery:\n  sinks:\n    - {name: log, kind: log, canary: true}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].canary: only a sink of kind file, webhook or command has this setting, and this one is of kind log; remove it."
            ]
        ),
        Mistake(
            "priority in words",
            "polls:\n  p:\n    kind: starred_projects\n    priority: high\n",
            ["starwatch.yaml:4: polls.p.priority: must be a whole number."]
        ),
        Mistake(
            "required no",
            "delivery:\n  sinks:\n    - {name: log, kind: log, required: no}\n",
            ["starwatch.yaml:3: delivery.sinks[0].required: must be true or false; write false."]
        ),
        Mistake(
            "keep 0",
            "delivery:\n  sinks:\n    - {name: f, kind: feed, keep: 0}\n",
            ["starwatch.yaml:3: delivery.sinks[0].keep: must be between 1 and 10000."]
        ),
        Mistake(
            "method in small letters",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\", method: get}\n",
            ["starwatch.yaml:4: digests.d.fetch.method: must be one of GET, POST; did you mean \"GET\"?"]
        ),
        Mistake(
            "body that is no JSON",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\", method: POST, body: \"{a: 1}\"}\n",
            ["starwatch.yaml:4: digests.d.fetch.body: must be JSON."]
        ),
        Mistake(
            "credential in a header",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\", headers: {Authorization: \"Bearer x\"}}\n",
            [
                "starwatch.yaml:4: digests.d.fetch.headers.Authorization: contains a credential; put it in a file and name that as token_file."
            ]
        ),
        Mistake(
            "mode chain",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    mode: chain\n",
            ["starwatch.yaml:5: digests.d.mode: must be one of prearmed, chained; did you mean \"chained\"?"]
        ),
        Mistake(
            "window above its maximum",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    window: 2h\n",
            ["starwatch.yaml:5: digests.d.window: must be at most 1h."]
        ),
        Mistake("skew 0", "clock:\n  max_skew: 0s\n", ["starwatch.yaml:2: clock.max_skew: must be at least 1ms."]),
        Mistake(
            "time server as a URL",
            "clock:\n  source: ntp\n  ntp_server: https://pool.ntp.org\n",
            ["starwatch.yaml:3: clock.ntp_server: must be HOST or HOST:PORT, such as pool.ntp.org or [::1]:123."]
        ),
        Mistake(
            "control port open to all",
            "control:\n  listen: 0.0.0.0:9465\n",
            ["starwatch.yaml:2: control.listen: opens the control API on TCP, which needs token_file; add that."]
        ),
        Mistake(
            "two master keys",
            "security:\n  master_key_file: k\n  master_key_command: [\"/bin/cat\"]\n",
            ["starwatch.yaml:3: security.master_key_command: is given beside master_key_file; remove one of the two."],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "sink path with a slash at the end",
            "delivery:\n  sinks:\n    - {name: f, kind: file, path: logs/}\n",
            ["starwatch.yaml:3: delivery.sinks[0].path: must be the path of a file; add its name after the last /."]
        ),
        Mistake(
            "webhook secret in place of its file",
            "delivery:\n  sinks:\n    - {name: w, kind: webhook, url: https://a.test, secret_file: whsec_abcdefgh}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].secret_file: there is no such file in FOLDER; the value must be the name of a file that contains the secret."
            ]
        ),
        Mistake(
            "splay without a unit",
            "polls:\n  p:\n    kind: starred_projects\n    splay: 30\n",
            ["starwatch.yaml:4: polls.p.splay: '30' is not a duration; write 30s."]
        ),
        Mistake(
            "section twice on lines of their own",
            "server: {url: \"https://a.test\"}\nserver: {timeout: 30s}\n",
            ["starwatch.yaml:2: server: is given twice, first on line 1; remove one."]
        ),
        Mistake(
            "group_wait above its maximum",
            "delivery:\n  group_wait: 2d\n",
            ["starwatch.yaml:2: delivery.group_wait: must be at most 1d."]
        ),
        Mistake(
            "catalogue that is a file",
            "delivery:\n  catalogues: pl.json\n",
            [
                "starwatch.yaml:2: delivery.catalogues: there is no folder FOLDER/pl.json that this user can read; create it or correct the path."
            ]
        ),
        Mistake(
            "project names as a list",
            "delivery:\n  project_names: [a]\n",
            ["starwatch.yaml:2: delivery.project_names: must be a section: settings as \"key: value\" below it."]
        ),
        Mistake(
            "did as a list",
            "identity:\n  did: [a]\n",
            ["starwatch.yaml:2: identity.did: must be text; leave the line out for the default."]
        ),
        Mistake(
            "dids",
            "identity:\n  dids: [a]\n",
            ["starwatch.yaml:2: identity.dids: there is no such setting; did you mean \"did\"?"]
        ),
        Mistake(
            "proxy without a port",
            "server:\n  proxy: http://proxy.internal\n",
            ["starwatch.yaml:2: server.proxy: must have a port, such as http://proxy.internal:3128."]
        ),
        Mistake(
            "proxy with a password",
            "server:\n  proxy: http://user:pw@proxy.internal:3128\n",
            [
                "starwatch.yaml:2: server.proxy: must not contain a user or password; write user:password into a file, and name it as proxy_login_file."
            ]
        ),
        Mistake(
            "place beyond the Earth",
            "polls:\n  projects_of_interest:\n    near: {latitude: 91, longitude: \"13\", km: 0}\n",
            [
                "starwatch.yaml:3: polls.projects_of_interest.near.latitude: must be between -90 and 90.",
                "starwatch.yaml:3: polls.projects_of_interest.near.longitude: must be a number; remove the quotes.",
                "starwatch.yaml:3: polls.projects_of_interest.near.km: must be between 0.1 and 1000.",
            ]
        ),
        Mistake(
            "place without a distance",
            "polls:\n  projects_of_interest:\n    near: {latitude: nan, longitude: 13}\n",
            [
                "starwatch.yaml:3: polls.projects_of_interest.near.latitude: must be between -90 and 90.",
                "starwatch.yaml:3: polls.projects_of_interest.near: needs km; add it.",
            ]
        ),
        Mistake(
            "place as a text",
            "polls:\n  projects_of_interest:\n    near: Berlin\n    words: [a, \" \"]\n",
            [
                "starwatch.yaml:3: polls.projects_of_interest.near: must be a section: settings as \"key: value\" below it.",
                "starwatch.yaml:4: polls.projects_of_interest.words: must have words of 1 to 64 characters in one line; correct number 2.",
            ]
        ),
        Mistake(
            "too many words",
            "polls:\n  projects_of_interest:\n    words: [a, b, c, d, e, f, g, h, i, j, k]\n  p:\n    kind: projects_of_interest\n    words: [a, a]\n",
            [
                "starwatch.yaml:3: polls.projects_of_interest.words: must name at most 10 words; found 11.",
                "starwatch.yaml:6: polls.p.words: names a word twice; remove one.",
            ]
        ),
        Mistake(
            "place of a poll of gifts",
            "polls:\n  gives_to_me:\n    near: {latitude: 52, longitude: 13, km: 1}\n    words: [a]\n",
            [
                "starwatch.yaml:3: polls.gives_to_me.near: is only for polls of projects_of_interest; remove it.",
                "starwatch.yaml:4: polls.gives_to_me.words: is only for polls of projects_of_interest; remove it.",
            ]
        ),
        Mistake(
            "all projects of a server",
            "polls:\n  projects_of_interest:\n    bootstrap: beginning\n",
            [
                "starwatch.yaml:3: polls.projects_of_interest.bootstrap: cannot be beginning for projects_of_interest; use last_week or latest."
            ]
        ),
        Mistake(
            "proxy without a scheme",
            "delivery:\n  sinks:\n    - {name: w, kind: webhook, url: https://a.test, proxy: proxy.internal}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].proxy: must be a URL such as http://proxy.internal:3128, or environment."
            ]
        ),
    ]
}

/// What `starwatch config default` prints: every setting with its default, and what it means.
///
/// Reading it gives the same options as an empty file; a test holds the two together.
enum DefaultConfiguration {
    static let text = """
        # Starwatch's configuration: every setting, with its default. What you leave out keeps the default; what
        # Starwatch does not know is refused. Check the file with 'starwatch check --config FILE'.
        #
        # Durations: 250ms, 30s, 5m, 4h, 7d. Sizes: 64KiB, 10MiB. Relative paths start at this file's directory.
        # Keys, tokens and signing secrets are never written here: name a file of mode 0600 instead (..._file). A bare
        # file name is also looked for in $CREDENTIALS_DIRECTORY.

        server:
          url: https://api.endorser.ch   # https; http only to this machine
          dialect: auto                  # auto | endorser | canonical
          timeout: 30s                   # of a whole request, its answer's body included
          max_response: 10MiB            # the largest answer, after decompression
          ca_file: null                  # an extra trust anchor, PEM
          pinned_public_key: null        # sha256//... as libcurl takes it

        identity:
          did: null                      # of an empty database; later: starwatch identity set

        auth:
          kind: none                     # none | shared_secret | did_key | token_pool | command
          secret_file: null              # shared_secret: the secret's bytes (HS256)
          key_file: null                 # did_key: 64 hex digits or PEM (ES256K, did:ethr)
          tokens_file: null              # token_pool: one token a line, or a JSON array
          argv: null                     # command: [program, argument, ...]; prints a token
          lifetime: null                 # of a minted token; null: 60s for did_key, else 60m
          refresh_before: 10m            # a new token so long before the old one ends; at most half its lifetime

        storage:
          path: ./starwatch.db
          owner: agent                   # agent | host (host: never migrate, only assert the version)

        polls:                           # at most 16; names are a-z, 0-9 and _
          starred_projects:
            kind: starred_projects       # starred_projects | offers_to_me | offers_to_my_projects
            schedule: "*/15 * * * *"     # cron, five fields; or, in its place, every: 5s (at least 1s)
            timezone: UTC                # of the schedule, an IANA name
            catch_up: latest             # latest: one run makes up for missed ones | none
            splay: 0s                    # the range of this instance's fixed delay
            stale_after: 4h              # without a success for so long, the agent is degraded
            plan_ids: []                 # of an empty database; later: starwatch stars set
            bootstrap: latest            # the first run announces: latest: nothing | beginning: everything
            validation: lenient          # lenient | strict
            quarantine_invalid: false    # true: refuse invalid items one by one, not the page
            group_interval: null         # of this poll's notifications, in place of delivery.group_interval
            max_group_size: null         # and in place of delivery.max_group_size
            priority: 0                  # -100 to 100: the higher is delivered first, and evicted last

        outbox:
          max_undelivered: 1000          # rows that wait for delivery
          backpressure_threshold: 0.8    # the fraction of them from which polling pauses
          eviction: fifo                 # what leaves first: fifo: the oldest | lifo: the newest | priority
          max_retries: 3                 # refusals by one sink, then a dead letter; at least 1
          cleanup_interval: 1h           # how often what is finished and old is deleted
          keep_delivered: 7d             # how long what is finished is remembered; dead letters: 30d

        delivery:
          group_wait: 0s                 # how long the first change waits for others
          group_interval: 5m             # at most one notification in this time
          max_group_size: 5              # the largest group that is "several"; above it "many"
          locale: en                     # of the texts: en | ja | pl | one of catalogues; pl-PL is pl
          catalogues: null               # a folder of texts that come first: LOCALE.json, such as pl.json
          project_names: {}              # your own names of projects: {HANDLE: name, ...}
          staleness_notice: false        # true: tell the person, once, while a poll is stale
          sinks:                         # at most 16
            - name: log
              kind: log                  # stdout | log | feed | file | webhook | ntfy | command
          # - name: terminal
          #   kind: stdout               # title and body, for a person
          # - name: feed
          #   kind: feed                 # the last ones in the database, for the control API's /feed
          #   keep: 100                  # at most 10000
          # - name: journal
          #   kind: file                 # appends JSON lines
          #   path: ./notifications.jsonl
          # - name: hook
          #   kind: webhook              # Standard Webhooks, signed when there is a secret
          #   url: https://example.org/hook
          #   secret_file: hook.secret   # whsec_ and base64, or bytes; while it is replaced: both, a whsec_ line each
          #   timeout: 10s
          # - name: phone
          #   kind: ntfy
          #   url: https://ntfy.sh
          #   topic: my-topic
          #   token_file: ntfy.token
          # - name: script
          #   kind: command              # the notification as JSON on standard input; no shell
          #   argv: [/usr/local/bin/notify, --quiet]
          #   timeout: 10s

        acknowledge:
          mode: auto                     # auto | server | local
          batch_size: 100                # 1 to 100

        limits:
          requests_per_minute: 100       # to the server, in any 60 s, of one identity
          acknowledgements_per_minute: 1000   # identifiers in them, in any 60 s
          max_concurrent_polls: 3        # cycles under way at once; 1 to 16
          cycle: 10m                     # how long a cycle may ask for pages; the rest is the next one's
          shutdown: 30s                  # how long stopping may take; what is then under way is done after the start

        clock:
          source: auto                   # auto | time_endpoint | date_header | ntp | system
          ntp_server: null               # of ntp: HOST or HOST:PORT
          check_interval: 5m             # at least 15s for ntp
          max_skew: 30s                  # above it, the agent is degraded

        http:
          listen: 127.0.0.1:9464         # /metrics, health, status page
          web_config_file: null          # must be null in this version; for TLS, put a proxy in front
          dashboards_url: null           # where the dashboards are, for a link on the status page

        control:
          socket: ./starwatch.sock       # created with mode 0600
          listen: null                   # the control API on TCP, only together with token_file
          token_file: null

        log:
          level: info                    # trace | debug | info | notice | warning | error | critical
          format: json                   # json | text

        digests: {}                      # at most 16: notifications at fixed times, of content fetched before
        # daily:
        #   times: ["08:00", "17:30"]
        #   timezone: null               # an IANA name; null: this machine's zone
        #   window: 0s                   # it comes within so long after each time; where is this installation's
        #   poll: null                   # in place of fetch, a poll: {{count}} changes of {{projects}}: {{names}}
        #   fetch:
        #     method: GET                # GET | POST
        #     url: https://example.org/daily.json   # a JSON object
        #     headers: {}                # no credentials
        #     body: null                 # of POST: JSON
        #     token_file: null           # sent as a bearer token
        #     timeout: null              # of the one try, 1s to 12s; null: 12s
        #   lead: 5m                     # fetched so long before
        #   ttl: null                    # how old content may be at the time; null: as that of the time before
        #   title: TimeSafari            # {{name}} is a field of the content
        #   body: Your daily update is ready
        #   mode: prearmed               # prearmed | chained (armed only after the fetch)
        #   on_missing: cached           # cached (else nothing) | fallback (cached, else the fallback) | skip
        #   on_empty: show               # show | skip (nothing comes when the content has nothing in it)
        #   fallback_title: TimeSafari
        #   fallback_body: Open the app for your daily update
        #   sinks: null                  # names; null: all

        callbacks:                       # told of digests by POST; what to fetch is the digests' fetch
          ack_delivery: null             # of each that was shown: url, headers, token_file, timeout (1s to 8s)
          report_error: null             # of each that was not, and of failed fetches; the same keys
          heartbeat: null                # that the agent runs; the same keys, and interval: 1h

        """
}

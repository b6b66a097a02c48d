import StarwatchCore
import Testing

@testable import StarwatchCommand

/// The output of `config default`, as users read it: a change of the table shows here.
@Suite struct DefaultConfigurationTests {
    @Test func theDefaultConfigurationReadsLikeThis() {
        #expect(ConfigurationPrinter.defaults == Self.text)
    }

    /// The polls that the defaults do not have.
    private static let list = ["url: https://api.example.org/releases", "id: /id", "name: /title"]
        .map { "\n  #   \($0)" }.joined()

    private static let otherPolls = PollKind.allCases.dropFirst().map { kind in
        """
          # \(kind.traits.announced)\(kind.needsToken ? "; needs a token" : ""):
          # \(kind.rawValue):
          #   kind: \(kind.rawValue)
        """ + (kind.isList ? list : "")
    }.joined(separator: "\n")

    private static let text = """
        # Starwatch's configuration: every setting with its default. Settings you leave out keep their default; unknown
        # settings are errors. Check the file with 'starwatch check --config FILE'.
        #
        # Durations: 250ms, 30s, 5m, 4h, 7d. Sizes: 64KiB, 10MiB. Relative paths start at this file's directory.
        # Never write keys, tokens or signing secrets here: name a file with mode 0600 (..._file). A file name without a
        # directory is also looked up in $CREDENTIALS_DIRECTORY.

        server:
          url: https://api.endorser.ch   # https; http only to this machine
          dialect: auto                  # auto | endorser | canonical
          timeout: 30s                   # per request, with the body (100ms to 1h)
          retry_attempts: null           # null: 3, or 5 at 429 and 503 (1 to 10)
          max_response: 10MiB            # after decompression (1KiB to 1GiB)
          user_agent: null               # null: Starwatch/VERSION
          client_version: null           # X-Client-Version; null: Starwatch/VERSION
          proxy: null                    # http://HOST:PORT; environment: HTTPS_PROXY; null: none
          proxy_login_file: null         # user:password at the proxy
          ca_file: null                  # additional trust anchors of this server, PEM
          pinned_public_key: null        # sha256//...

        identity:
          did: null                      # only seeds an empty database; later: starwatch identity set

        accounts: one                    # one | many; one: identity.did; many: those of starwatch accounts add

        fleet:
          requests_per_second: 10        # requests to the server, with accounts: many (1 to 10000)
          shared_requests: true          # one request for many accounts, without tokens

        auth:
          kind: none                     # none | shared_secret | did_key | token_pool | command
          secret_file: null              # shared_secret: the secret's bytes (HS256), at least 32
          key_file: null                 # did_key: 64 hex digits or PEM (ES256K, did:ethr)
          stored_keys: false             # the key is in the encrypted database; starwatch keys import
          tokens_file: null              # token_pool: one token per line, or a JSON array
          argv: null                     # command: [program, argument, ...]; prints a token
          lifetime: null                 # token lifetime; null: 60s for did_key, else 60m (at least 1s)
          refresh_before: 10m            # time before expiry; at most half the lifetime
          scope: notifications           # of minted tokens, if the server asks for another

        storage:
          path: ./starwatch.db           # the SQLite file
          owner: agent                   # agent | host; host: the agent never migrates, it only checks the version
          keep_before_upgrade: 7d        # copy before an upgrade; 0s: none (at most 30d)

        security:
          master_key_file: null          # encrypts the database; see starwatch keys init
          master_key_command: null       # [program, argument, ...]; prints the key

        polls:                           # at most 16; names: a-z, 0-9 and _
          starred_projects:
            kind: starred_projects       # what it asks for: changes, offers or gifts
            enabled: true                # false: it does not run, and resumes where it was
            schedule: "*/15 * * * *"     # cron, five fields, in quotes
            timezone: UTC                # of the schedule; an IANA name
            every: null                  # replaces schedule, such as 5m (at least 1s)
            catch_up: latest             # none | latest; latest: one run replaces all missed runs
            splay: 0s                    # range of this instance's fixed delay (at most 7d)
            stale_after: null            # degraded after it; null: longest gap between runs + 1h, at least 4h (at least 1s)
            plan_ids: []                 # only seeds an empty database; later: starwatch stars set
            near: null                   # for projects_of_interest, those near a place: latitude, longitude, km
            words: []                    # for projects_of_interest, those with one of them (at most 10)
            bootstrap: latest            # latest | last_week | beginning; the first run announces none, a week or all
            validation: lenient          # lenient | strict
            quarantine_invalid: after 3  # after 3 | true | false; the third rejection sets items aside
            group_interval: null         # replaces delivery.group_interval (at most 7d)
            max_group_size: null         # replaces delivery.max_group_size (1 to 100)
            priority: 0                  # higher is delivered first and evicted last (-100 to 100)
        \(otherPolls)

        outbox:
          max_undelivered: 1000          # rows that wait for delivery (1 to 1000000)
          backpressure_threshold: 0.8    # fraction at which polling pauses
          eviction: fifo                 # fifo | lifo | priority; evicted first: oldest, newest or lowest priority
          max_retries: 3                 # rejections by one sink before a dead letter (1 to 100)
          cleanup_interval: 1h           # how often old rows are deleted (at least 1s)
          keep_delivered: 7d             # retention of finished rows; dead letters: 30d

        delivery:
          group_wait: 0s                 # how long the first change waits for others (at most 1d)
          group_interval: 5m             # one notification per interval (at most 7d)
          max_group_size: 5              # above it, "several" become "many" (1 to 100)
          locale: en                     # en, ja, pl or one of catalogues; pl-PL uses pl
          catalogues: null               # a folder with your own texts: LOCALE.json, such as pl.json
          project_names: {}              # your own project names: {HANDLE: name, ...}
          announce_own: false            # true: also your own changes, offers and gifts
          staleness_notice: null         # one quiet notification while a poll is stale; null: not for many accounts
          sinks:                         # at most 16; kind: stdout | log | feed | file | webhook | ntfy | email | command
            - name: log
              kind: log
              required: true             # false: changes do not wait for this sink
              give_up_after: null        # outage after which it is a dead letter (at least 1s)
              quiet_hours: null          # "22:00-07:00": holds changes, then sends them as one
              deliver_at: null           # ["08:00"]: only then, what came since as one (1 to 24)
              timezone: null             # of both; null: this machine's time zone
          # Title and body on standard output, for a person:
          # - name: terminal
          #   kind: stdout
          # The latest notifications, for the control API's /feed:
          # - name: feed
          #   kind: feed
          #   keep: 100                  # notifications (1 to 10000)
          # JSON lines appended to a file:
          # - name: journal
          #   kind: file
          #   path: ./notifications.jsonl
          #   canary: false              # true: gets the synthetic changes of canary
          # Standard Webhooks, signed with secret_file:
          # - name: hook
          #   kind: webhook
          #   url: https://example.org/hook  # or url_file; telegram and pushover need none
          #   format: null               # a chat's service; null: Standard Webhooks
          #   body_file: null            # a template of the body, as JSON with {{title}}
          #   url_file: null             # a file with the URL
          #   room: null                 # receiver, for matrix, telegram and pushover
          #   topic: null                # telegram: message_thread_id of a topic (1 to 2147483647)
          #   token_file: null           # matrix, telegram, gotify, pushover
          #   secret_file: hook.secret   # whsec_ and base64, or bytes; two whsec_ lines to rotate
          #   include_account: false     # true: adds account_did, the account's DID
          #   proxy: null                # as server.proxy
          #   proxy_login_file: null     # as server.proxy_login_file
          #   ca_file: null              # additional trust anchors, PEM
          #   timeout: 10s               # 100ms to 10m
          #   canary: false              # true: gets the synthetic changes of canary
          # A room of a chat, or push messages, in the format of the service:
          # - name: room
          #   kind: webhook
          #   url: null                  # or url_file; telegram and pushover need none
          #   format: slack              # a chat's service; null: Standard Webhooks
          #   body_file: null            # a template of the body, as JSON with {{title}}
          #   url_file: slack.url        # a file with the URL
          #   room: null                 # receiver, for matrix, telegram and pushover
          #   topic: null                # telegram: message_thread_id of a topic (1 to 2147483647)
          #   token_file: null           # matrix, telegram, gotify, pushover
          #   secret_file: null          # whsec_ and base64, or bytes; two whsec_ lines to rotate
          #   include_account: false     # true: adds account_did, the account's DID
          #   proxy: null                # as server.proxy
          #   proxy_login_file: null     # as server.proxy_login_file
          #   ca_file: null              # additional trust anchors, PEM
          #   timeout: 10s               # 100ms to 10m
          #   canary: false              # true: gets the synthetic changes of canary
          # A topic of an ntfy server:
          # - name: phone
          #   kind: ntfy
          #   url: https://ntfy.sh
          #   topic: my-topic
          #   token_file: ntfy.token
          #   proxy: null                # as server.proxy
          #   proxy_login_file: null     # as server.proxy_login_file
          #   ca_file: null              # additional trust anchors, PEM
          # Mails, by way of a mail server:
          # - name: mail
          #   kind: email
          #   url: smtps://mail.example.org  # smtps://, or smtp:// with STARTTLS
          #   from: "Starwatch <agent@example.org>"  # the sender, with or without a name
          #   to: ["me@example.org"]     # one receiver or a list
          #   username: "agent@example.org"
          #   password_file: mail.password
          #   proxy: null                # as server.proxy
          #   proxy_login_file: null     # as server.proxy_login_file
          #   ca_file: null              # additional trust anchors, PEM
          # A program that reads the notification as JSON from standard input:
          # - name: script
          #   kind: command
          #   argv: [/usr/local/bin/notify, "--quiet"]
          #   timeout: 10s               # 100ms to 10m
          #   canary: false              # true: gets the synthetic changes of canary

        acknowledge:
          mode: auto                     # auto | server | local; where delivered changes are acknowledged
          batch_size: 100                # changes per request (1 to 100)

        limits:
          requests_per_minute: 100       # in any 60s, per identity (1 to 100000)
          acknowledgements_per_minute: 1000  # changes in any 60s (1 to 1000000)
          max_concurrent_polls: 3        # poll cycles at once (1 to 1000)
          max_own_plans: 100             # the account's projects in a cycle, newest (1 to 5000)
          cycle: 10m                     # time to request pages; the next poll cycle resumes (at least 1s)
          shutdown: 30s                  # grace period; the next start resumes the rest (at least 1s)

        clock:
          source: auto                   # auto | time_endpoint | date_header | ntp | system
          ntp_servers: [pool.ntp.org, time.google.com]  # source ntp: HOST or HOST:PORT, asked in turn (1 to 8)
          ntp_server: null               # a single one; replaces ntp_servers
          check_interval: 5m             # clock check period; ntp: 15s or more (at least 1s)
          max_skew: 30s                  # above it, the agent is degraded (at least 1ms)

        http:
          listen: 127.0.0.1:9464         # /metrics, health checks, status page
          web_config_file: null          # TLS and passwords, as in Prometheus exporters
          allowed_hosts: []              # names in Host besides addresses and localhost
          dashboards_url: null           # linked on the status page

        control:
          socket: ./starwatch.sock       # created with mode 0600
          listen: null                   # control API on TCP; needs token_file or users
          token_file: null               # bearer token of requests over TCP, 16 bytes or more
          feed_token_file: null          # token in the feed's address, 16 bytes or more; starwatch feed url makes it
          web_config_file: null          # TLS, or users instead of a token

        log:
          level: info                    # trace | debug | info | notice | warning | error | critical
          format: json                   # json | text

        digests: {}                      # at most 16; notifications at fixed times
        # daily:
        #   times: ["08:00", "17:30"]    # 1 to 24
        #   timezone: null               # an IANA name; null: this machine's time zone
        #   window: 0s                   # range of this installation's fixed delay (at most 1h)
        #   poll: null                   # replaces fetch; fields: {{count}}, {{projects}}, {{names}}
        #   fetch:
        #     method: GET                # GET | POST
        #     url: https://example.org/daily.json
        #     headers: {}                # without credentials
        #     token_file: null           # sent as a bearer token
        #     timeout: null              # null: the maximum (1s to 12s)
        #     body: null                 # JSON, for method POST
        #   lead: 5m                     # time from the fetch to the digest (15s to 1h)
        #   ttl: null                    # maximum age; null: derived from times (1m to 14d)
        #   title: Starwatch             # {{name}} is a field of the content
        #   body: "Your daily update is ready"
        #   mode: prearmed               # prearmed | chained; chained: scheduled only after the fetch
        #   on_missing: cached           # cached | fallback | skip; fallback: cached content, else the fallback texts
        #   on_empty: show               # show | skip; when the content has nothing in it
        #   fallback_title: Starwatch
        #   fallback_body: "Open the app for your daily update"
        #   sinks: null                  # names; null: all

        callbacks:                       # POST requests that report on digests
          ack_delivery: null             # for each digest shown: url, headers, token_file, timeout
          report_error: null             # for each failed digest or fetch: url, headers, token_file, timeout
          heartbeat: null                # while the agent runs, every 1h: url, headers, token_file, timeout, interval

        canary: null                     # a synthetic change that proves delivery: every, account

        """
}

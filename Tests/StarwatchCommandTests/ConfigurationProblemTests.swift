import Starwatch
import Testing

@testable import StarwatchCommand

/// A wrong file, and what must be said about it.
struct BadInput: Sendable, CustomTestStringConvertible {
    var yaml: String
    var line: Int?
    var path: String
    /// A part of the sentence.
    var says: String

    init(_ yaml: String, line: Int?, _ path: String, _ says: String) {
        self.yaml = yaml
        self.line = line
        self.path = path
        self.says = says
    }

    var testDescription: String { "\(path): \(says)" }
}

@Suite struct ConfigurationProblemTests {
    /// Mistakes in a sink of kind email.
    static let mails: [BadInput] = {
        func sink(_ settings: String, _ path: String, _ says: String) -> BadInput {
            let yaml = "delivery:\n  sinks:\n    - {name: a, kind: email, \(settings)}"
            return BadInput(yaml, line: 3, "delivery.sinks[0]\(path)", says)
        }
        let (url, from, to) = ("url: smtps://mail.test", "from: agent@a.test", "to: me@a.test")
        return [
            sink("\(from), \(to)", "", "a sink of kind email needs url; add it."),
            sink("\(url), \(to)", "", "a sink of kind email needs from; add it."),
            sink("\(url), \(from)", "", "a sink of kind email needs to; add it."),
            sink("url: mail.test, \(from), \(to)", ".url", "must start with smtps:// or smtp://"),
            sink("url: https://mail.test, \(from), \(to)", ".url", "must start with smtps:// or smtp://"),
            sink("url: smtps://, \(from), \(to)", ".url", "must start with smtps:// or smtp://"),
            sink("url: smtps://a:b@mail.test, \(from), \(to)", ".url", "write them as username and password_file."),
            sink("url: smtps://mail.test:99999, \(from), \(to)", ".url", "must have a port between 1 and 65535."),
            sink("url: smtps://mail.test/me, \(from), \(to)", ".url", "must end with the host or the port"),
            sink("\(url), from: agent, \(to)", ".from", "must be one address, such as me@example.org"),
            sink("\(url), from: agent@ä.test, \(to)", ".from", "must be an address in ASCII; write its domain as xn--"),
            sink(
                "\(url), from: \"A\\r\\nBcc: b@c.test <agent@a.test>\", \(to)",
                ".from",
                "must not contain a line break"
            ),
            sink("\(url), \(from), to: []", ".to", "must name 1 to 100 addresses."),
            sink("\(url), \(from), to: [me@a.test, you]", ".to[1]", "must be one address"),
            sink("\(url), \(from), to: \"me@a.test, you@a.test\"", ".to", "must be one address; the setting to also"),
            sink("\(url), \(from), to: \"A <me@a.test>, B <you@a.test>\"", ".to", "also takes a list, such as"),
            sink("\(url), \(from), to: 3", ".to", "must be one address"),
            sink("\(url), \(from), \(to), username: me", ".username", "needs password_file; add it."),
            sink("\(url), \(from), \(to), password_file: x", ".password_file", "needs username; add it."),
            sink("\(url), \(from), \(to), usrname: x", ".usrname", "did you mean \"username\"?"),
            sink("\(url), \(from), \(to), topic: x", ".topic", "only a sink of kind webhook or ntfy has this setting"),
            sink("\(url), \(from), \(to), canary: true", ".canary", "only a sink of kind file, webhook or command"),
        ]
    }()

    @Test(arguments: mails) func aMistakeInTheSettingsOfMailsIsToldWithItsLine(_ bad: BadInput) throws {
        let problems = problems(bad.yaml)
        #expect(
            problems.contains { $0.line == bad.line && $0.path == bad.path && $0.message.contains(bad.says) },
            "\(problems)"
        )
        // No address is repeated.
        #expect(!problems.contains { $0.message.contains("a.test") || $0.message.contains("ä.test") }, "\(problems)")
    }

    @Test func aLibcurlWithoutMailIsToldByCheck() throws {
        let mistakes = MailSink.mistakes(has: { _ in false }, library: "needs libcurl.")
        #expect(mistakes.map(\.key) == ["kind"] && mistakes.map(\.message) == ["needs libcurl."])
        #expect(MailSink.mistakes(has: { _ in false }, library: nil).isEmpty)
    }

    private func problems(_ yaml: String) -> [ConfigurationProblem] {
        do throws(ConfigurationFailure) {
            _ = try ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
                .load(text: yaml, file: "starwatch.yaml", directory: "/nowhere")
            return []
        } catch {
            return error.problems
        }
    }

    static let unknown = [
        BadInput("servr: {}", line: 1, "servr", "did you mean \"server\"?"),
        BadInput("server:\n  timout: 3s", line: 2, "server.timout", "did you mean \"timeout\"?"),
        BadInput("outbox:\n  maxRetries: 3", line: 2, "outbox.maxRetries", "did you mean \"max_retries\"?"),
        BadInput("clock:\n  ntp_servers: []", line: 2, "clock.ntp_servers", "at least one server"),
        BadInput("clock:\n  ntp_servers: [a, a b]", line: 2, "clock.ntp_servers", "HOST or HOST:PORT"),
        BadInput("clock:\n  ntp_server: a b", line: 2, "clock.ntp_server", "HOST or HOST:PORT"),
        BadInput("clock:\n  ntp_server: ::1", line: 2, "clock.ntp_server", "HOST or HOST:PORT"),
        BadInput(
            "clock:\n  source: ntp\n  ntp_server: a\n  check_interval: 14s",
            line: 4,
            "clock.check_interval",
            "at least 15s"
        ),
        BadInput("outbox:\n  colour: red", line: 2, "outbox.colour", "there is no such setting."),
        BadInput(
            "polls:\n  a:\n    kind: offers_to_me\n    shedule: x",
            line: 4,
            "polls.a.shedule",
            "did you mean \"schedule\"?"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: log, url: x}",
            line: 3,
            "delivery.sinks[0].url",
            "only a sink of kind webhook, ntfy or email has this setting, and this one is of kind log; remove it."
        ),
        BadInput("log:\n  format: jsn", line: 2, "log.format", "one of json, text; did you mean \"json\"?"),
        BadInput("auth:\n  kind: magic", line: 2, "auth.kind", "none, shared_secret, did_key, token_pool, command."),
        BadInput(
            "polls:\n  starred_projects:\n    timezone: Europe/Berln",
            line: 3,
            "polls.starred_projects.timezone",
            "did you mean \"Europe/Berlin\"?"
        ),
    ]

    static let types = [
        BadInput("server: 3", line: 1, "server", "must be a section"),
        BadInput("[a, b]", line: 1, "", "\"section:\""),
        BadInput("server:\n  timeout: 30", line: 2, "server.timeout", "'30' is not a duration"),
        BadInput("server:\n  timeout: [1s]", line: 2, "server.timeout", "must be a duration such as 30s"),
        BadInput("server:\n  timeout:", line: 2, "server.timeout", "leave the line out for the default"),
        BadInput("server:\n  timeout: 1ms", line: 2, "server.timeout", "at least 100ms"),
        BadInput("server:\n  user_agent: a\\b", line: 2, "server.user_agent", "without quotes and backslashes"),
        BadInput("server:\n  client_version: Größe", line: 2, "server.client_version", "1 to 200 printable"),
        BadInput("server:\n  max_response: 10MB", line: 2, "server.max_response", "'10MB' is not a size"),
        BadInput("server:\n  max_response: 1B", line: 2, "server.max_response", "between 1KiB and 1GiB"),
        BadInput("outbox:\n  max_retries: many", line: 2, "outbox.max_retries", "must be a whole number"),
        BadInput("outbox:\n  max_retries: \"3\"", line: 2, "outbox.max_retries", "must be a whole number"),
        BadInput("outbox:\n  max_retries: 1.5", line: 2, "outbox.max_retries", "must be a whole number"),
        BadInput("delivery:\n  locale: no", line: 2, "delivery.locale", "put it in quotes"),
        BadInput("delivery:\n  locale: e", line: 2, "delivery.locale", "such as en or en-GB"),
        BadInput("delivery:\n  catalogues: ./nowhere", line: 2, "delivery.catalogues", "there is no folder"),
        BadInput("delivery:\n  project_names: x", line: 2, "delivery.project_names", "must be a section"),
        BadInput(
            "delivery:\n  project_names:\n    secret-plan: [x]",
            line: 3,
            "delivery.project_names",
            "must map each project handle to a name"
        ),
        BadInput("storage:\n  path: ''", line: 2, "storage.path", "must not be empty"),
        BadInput("auth:\n  argv: run me", line: 2, "auth.argv", "must be a list"),
        BadInput("auth:\n  argv:\n    - a\n    - 3", line: 4, "auth.argv[1]", "put it in quotes"),
        BadInput(
            "polls:\n  starred_projects:\n    quarantine_invalid: yes",
            line: 3,
            "polls.starred_projects.quarantine_invalid",
            "true, false or after 3"
        ),
        BadInput("delivery:\n  sinks: log", line: 2, "delivery.sinks", "must be a list of sinks"),
    ]

    static let ranges = [
        BadInput("outbox:\n  max_retries: 0", line: 2, "outbox.max_retries", "between 1 and 100"),
        BadInput("outbox:\n  backpressure_threshold: 1.5", line: 2, "outbox.backpressure_threshold", "0 and 1"),
        BadInput("outbox:\n  backpressure_threshold: nan", line: 2, "outbox.backpressure_threshold", "0 and 1"),
        BadInput("acknowledge:\n  batch_size: 101", line: 2, "acknowledge.batch_size", "between 1 and 100"),
        BadInput("acknowledge:\n  batch_size: 0", line: 2, "acknowledge.batch_size", "between 1 and 100"),
        BadInput("limits:\n  max_concurrent_polls: 1001", line: 2, "limits.max_concurrent_polls", "between 1 and 1000"),
        BadInput("http:\n  allowed_hosts: [\"a:1\"]", line: 2, "http.allowed_hosts", "without a port"),
        BadInput("http:\n  listen: 9464", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("http:\n  listen: localhost", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("http:\n  listen: localhost:99999", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("http:\n  listen: ::1:9464", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("control:\n  listen: 127.0.0.1:1", line: 2, "control.listen", "needs token_file"),
        BadInput("control:\n  socket: /\(String(repeating: "x", count: 107))", line: 2, "control.socket", "107 bytes"),
        // The path fits, but not the place beside it where the socket is first bound.
        BadInput(
            "control:\n  socket: /\(String(repeating: "x", count: 95))/s",
            line: 2,
            "control.socket",
            "directory 95"
        ),
        BadInput("http:\n  listen: \"[localhost]:1\"", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("http:\n  listen: \"a[b:1\"", line: 2, "http.listen", "must be HOST:PORT"),
        BadInput("identity:\n  did: me", line: 2, "identity.did", "must be a DID"),
        BadInput("auth:\n  kind: did_key", line: 2, "auth.kind", "did_key needs key_file"),
        BadInput("auth:\n  kind: command", line: 2, "auth.kind", "command needs argv"),
        BadInput(
            "auth:\n  kind: shared_secret\n  stored_keys: true",
            line: 3,
            "auth.stored_keys",
            "needs a master key"
        ),
        BadInput(
            "auth:\n  kind: token_pool\n  stored_keys: true\nsecurity:\n  master_key_command: [unwrap]",
            line: 3,
            "auth.stored_keys",
            "needs kind shared_secret or did_key"
        ),
        BadInput("server:\n  pinned_public_key: abc", line: 2, "server.pinned_public_key", "sha256//"),
    ]

    static let polls = [
        BadInput("polls: {}", line: 1, "polls", "at least one poll"),
        BadInput("polls:\n  Foo: {kind: offers_to_me}", line: 2, "polls.Foo", "lower-case letters"),
        BadInput("polls:\n  server: {kind: offers_to_me}", line: 2, "polls.server", "must not be called server"),
        BadInput("polls:\n  mine: {}", line: 2, "polls.mine", "needs a kind: one of starred_projects"),
        BadInput("polls:\n  offers_to_me: {every: 999ms}", line: 2, "polls.offers_to_me.every", "at least 1s"),
        BadInput(
            "polls:\n  offers_to_me:\n    schedule: \"* * * * *\"\n    every: 5s",
            line: 4,
            "polls.offers_to_me.every",
            "keep one of the two"
        ),
        BadInput(
            "polls:\n  offers_to_me:\n    every: 5s\n    timezone: UTC",
            line: 4,
            "polls.offers_to_me.timezone",
            "has no effect with every"
        ),
        BadInput(
            "polls:\n  offers_to_me:\n    schedule: \"61 * * * *\"",
            line: 3,
            "polls.offers_to_me.schedule",
            "'61'"
        ),
        BadInput(
            "polls:\n  offers_to_me:\n    schedule: \"* * *\"",
            line: 3,
            "polls.offers_to_me.schedule",
            "five fields"
        ),
        BadInput(
            "polls:\n  offers_to_me:\n    plan_ids: [a]",
            line: 3,
            "polls.offers_to_me.plan_ids",
            "only for polls of starred projects"
        ),
        BadInput(
            "polls:\n  starred_projects:\n    plan_ids: [a, a]",
            line: 3,
            "polls.starred_projects.plan_ids",
            "twice"
        ),
        BadInput(
            "polls:\n" + (0...16).map { "  p\($0): {kind: offers_to_me}\n" }.joined(),
            line: 1,
            "polls",
            "at most 16 polls; found 17"
        ),
    ]

    static let sinks = [
        BadInput("delivery:\n  sinks: []", line: 2, "delivery.sinks", "at least one sink"),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: log}\n    - {name: a, kind: stdout}",
            line: 4,
            "delivery.sinks[1].name",
            "the name of another sink"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: server, kind: log}",
            line: 3,
            "delivery.sinks[0].name",
            "must not be called server"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: feed}\n    - {name: b, kind: feed}",
            line: 4,
            "delivery.sinks[1].kind",
            "only one feed is possible"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: feed, keep: 0}",
            line: 3,
            "delivery.sinks[0].keep",
            "between 1 and 10000"
        ),
        BadInput("delivery:\n  sinks:\n    - {name: a}", line: 3, "delivery.sinks[0]", "needs a kind: one of stdout"),
        BadInput("delivery:\n  sinks:\n    - {kind: log}", line: 3, "delivery.sinks[0]", "needs a name"),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook}",
            line: 3,
            "delivery.sinks[0]",
            "a sink of kind webhook needs url"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: slak}",
            line: 3,
            "delivery.sinks[0].format",
            "did you mean \"slack\"?"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: slack}",
            line: 3,
            "delivery.sinks[0]",
            "the format slack needs url or url_file; add what is missing."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: slack, url: https://a.test/other}",
            line: 3,
            "delivery.sinks[0].url",
            "must be the address that slack gave, with /services/ in it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: discord, url: https://a.test/webhooks/1}",
            line: 3,
            "delivery.sinks[0].url",
            "with /api/webhooks/ in it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: teams, url: https://hooks.slack.com/services/T/B/x}",
            line: 3,
            "delivery.sinks[0].url",
            "must be the address that teams gave, with /workflows/ in it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: apprise, url: https://a.test/notify}",
            line: 3,
            "delivery.sinks[0].url",
            "must be the address that apprise gave, with /notify/ in it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: apprise, url: https://a.test/notify/}",
            line: 3,
            "delivery.sinks[0].url",
            "must not end after /notify/; add the rest of the address that apprise gave."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: matrix, url: https://a.test, room: \"!r\"}",
            line: 3,
            "delivery.sinks[0]",
            "the format matrix needs token_file; add what is missing."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: telegram}",
            line: 3,
            "delivery.sinks[0]",
            "the format telegram needs room, and token_file; add what is missing."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: apprise, url: https://a.test/notify/k, room: r}",
            line: 3,
            "delivery.sinks[0].room",
            "has no effect with the format apprise; remove it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: apprise, url: https://a.test/notify/k, topic: 7}",
            line: 3,
            "delivery.sinks[0].topic",
            "has no effect with the format apprise; remove it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, url: https://a.test, room: r}",
            line: 3,
            "delivery.sinks[0].room",
            "needs format; add format or remove this setting."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: teams, url: https://a.test/workflows/x, canary: true}",
            line: 3,
            "delivery.sinks[0].canary",
            "is for programs that read a webhook, not for the format teams; remove it."
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: webhook, format: slack, url: http://10.0.0.1/services/x}",
            line: 3,
            "delivery.sinks[0].url",
            "must start with https://"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - name: a\n      kind: ntfy\n      url: http://10.0.0.1\n      topic: t",
            line: 5,
            "delivery.sinks[0].url",
            "must start with https://"
        ),
        BadInput(
            "delivery:\n  sinks:\n    - {name: a, kind: command, argv: []}",
            line: 3,
            "delivery.sinks[0].argv",
            "must name a program"
        ),
        BadInput(
            "delivery:\n  sinks:\n" + (0...16).map { "    - {name: s\($0), kind: log}\n" }.joined(),
            line: 2,
            "delivery.sinks",
            "at most 16 sinks; found 17"
        ),
    ]

    static let addresses = [
        "http://api.endorser.ch": "must start with https://; http:// is allowed to this machine only",
        "http://localhost.example.org": "must start with https://",
        "http://128.0.0.1": "must start with https://",
        "https://me:word@example.org": "must not contain a user or password",
        "http://127.0.0.1@example.org": "must not contain a user or password",
        "ftp://example.org": "starts with https://",
        "example.org": "must be a URL",
        "https://": "must be a URL",
        "https://exam ple.org": "must be a URL",
        "https://example.org/?a=b": "remove what follows ?",
        "https://example.org/#a": "remove what follows #",
        "https://example.org:99999": "port",
    ].map { BadInput("server:\n  url: \"\($0.key)\"", line: 2, "server.url", $0.value) }

    static let links = [
        "https://me:word@grafana.example": "must not contain a user or password",
        "https://grafana.example/d/a?auth_token=abc": "must not contain a token",
        "https://grafana.example/d/a?orgId=1&API-Key=abc": "must not contain a token",
        "https://grafana.example/d/a?x=glsa_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW": "must not contain a token",
        "https://grafana.example/d/a?x=0123456789abcdef0123456789abcdef": "must not contain a token",
        "https://grafana.example/#/home?jwt=abc": "must not contain a token",
        "https://grafana.example/#eyJhbGciOiJFUzI1NiJ9.e30.c2ln": "must not contain a token",
    ].map { BadInput("http:\n  dashboards_url: \"\($0.key)\"", line: 2, "http.dashboards_url", $0.value) }

    static let syntax = [
        BadInput("server:\n\turl: x", line: 2, "", "is indented with a tab; use spaces."),
        BadInput("server: [", line: 2, "", "is not valid YAML"),
        BadInput("server: {}\n---\nlog: {}", line: 2, "", "begins a second document"),
        BadInput("server: *nothing", line: 1, "", "begins with *; quote the value of server"),
        BadInput("server:\n  timeout: 3s\n  url: x\n  timeout: 4s", line: 4, "timeout", "first on line 2"),
        BadInput("log: {}\nserver: {}\nlog: {}", line: 3, "log", "first on line 1"),
    ]

    @Test(arguments: unknown + types + ranges + polls + sinks + addresses + links + syntax)
    func isReportedOnceWithItsLineAndPlace(_ input: BadInput) throws {
        let found = problems(input.yaml)
        let problem = try #require(found.first)
        #expect(found.count == 1, "\(found.map(\.message))")
        #expect(problem.line == input.line)
        #expect(problem.path == input.path)
        #expect(problem.message.contains(input.says), "\(problem.message)")
        #expect(problem.message.last == "." || problem.message.last == "?")
        #expect(!problem.message.contains("\n"))
    }

    @Test func everythingWrongIsReportedInTheOrderOfTheFile() {
        let found = problems("log:\n  level: loud\noutbox:\n  max_retries: 0\nserver:\n  timeout: 3\n  dialekt: auto")
        #expect(found.map(\.line) == [2, 4, 6, 7])
        #expect(found.map(\.path) == ["log.level", "outbox.max_retries", "server.timeout", "server.dialekt"])
    }

    @Test func aDIDIsNeverRepeated() {
        let found = problems("identity:\n  did: \"did:ETHR:0xsecretsecret\"")
        #expect(found.count == 1)
        #expect(!found[0].message.contains("secretsecret"))
    }

    @Test func aProblemReadsAsEditorsExpect() {
        let problem = ConfigurationProblem(line: 3, path: "log.level", message: "must be quiet.")
        #expect(problem.description(file: "a.yaml") == "a.yaml:3: log.level: must be quiet.")
        #expect(
            ConfigurationProblem(line: nil, path: "", message: "is gone.").description(file: "a.yaml")
                == "a.yaml: is gone."
        )
    }
}

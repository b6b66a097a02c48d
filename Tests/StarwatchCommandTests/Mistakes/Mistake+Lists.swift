extension Mistake {
    /// Mistakes in the settings of lists.
    static let lists: [Mistake] = settingsOfLists + pollsOfLists

    private static let settingsOfLists: [Mistake] = [
        Mistake(
            list: "pointer without a slash",
            "items: data",
            at: "items",
            "is a JSON pointer (RFC 6901) and begins with /, such as /data."
        ),
        Mistake(
            list: "JSONPath",
            "items: $.data.items",
            at: "items",
            "must be a JSON pointer (RFC 6901); write /data/items."
        ),
        Mistake(
            list: "path of a program",
            "name: title[0].text",
            at: "name",
            "must be a JSON pointer (RFC 6901); write /title/0/text."
        ),
        Mistake(
            list: "escape that is none",
            "version: /a~b",
            at: "version",
            "has a ~ that is no escape; write ~0 for ~ and ~1 for /."
        ),
        Mistake(
            list: "order",
            "order: newest",
            at: "order",
            "must be one of newest_first, oldest_first, none; did you mean \"newest_first\"?"
        ),
        Mistake(list: "no pages", "max_pages: 0", at: "max_pages", "must be between 1 and 100."),
        Mistake(list: "too many pages", "max_pages: 101", at: "max_pages", "must be between 1 and 100."),
        Mistake(
            list: "query as a list",
            "query: [limit]",
            at: "query",
            "must be a section: settings as \"key: value\" below it."
        ),
        Mistake(
            list: "parameter without a value",
            "query: {limit: }",
            at: "query.limit",
            "must be text or a number; leave the line out for the default."
        ),
        Mistake(
            list: "parameter with a space",
            "query: {\"a b\": c}",
            at: "query.a b",
            "must be the name of a parameter, such as cursor, without spaces, &, =, ? and #."
        ),
        Mistake(
            list: "field in capitals",
            "fields: {Author: /user}",
            at: "fields.Author",
            "must be a name of lower-case letters, digits and _, starting with a letter, at most 63 long."
        ),
        Mistake(
            list: "field that is there",
            "fields: {name: /title}",
            at: "fields.name",
            "is a name that texts have already; choose another one."
        ),
        Mistake(
            list: "two forms of the next page",
            "next: {link_header: true, page: page}",
            at: "next",
            "has two forms; keep one of link_header, pointer and page."
        ),
        Mistake(
            list: "no form of the next page",
            "next: {}",
            at: "next",
            "needs link_header: true, pointer or page; add one."
        ),
        Mistake(
            list: "no header for the next page",
            "next: {link_header: false}",
            at: "next",
            "needs link_header: true, pointer or page; add one."
        ),
        Mistake(
            list: "cursor without its place",
            "next: {parameter: cursor}",
            at: "next.parameter",
            "needs pointer, the place of its value in the answer; add it."
        ),
        Mistake(
            list: "first page without a parameter",
            "next: {pointer: /next, first: 0}",
            at: "next.first",
            "needs page, the parameter with the number; add it."
        ),
        Mistake(
            list: "misspelt pointer",
            "next: {pointr: /next}",
            at: "next.pointr",
            "there is no such setting; did you mean \"pointer\"?"
        ),
        Mistake(
            list: "since without a place",
            "since: {parameter: since}",
            at: "since",
            "needs from, the place of the time in an item; add it."
        ),
        Mistake(
            list: "since without a parameter",
            "since: {from: /updated_at}",
            at: "since",
            "needs parameter, the name of the parameter for newer items; add it."
        ),
        Mistake(
            list: "condition without a test",
            "expect: [{pointer: /status}]",
            at: "expect[0]",
            "needs exists, equals or at_least; add one."
        ),
        Mistake(
            list: "condition with two tests",
            "expect: [{pointer: /a, exists: true, equals: b}]",
            at: "expect[0]",
            "has two tests; keep one of exists, equals and at_least."
        ),
        Mistake(
            list: "condition of absence",
            "expect: [{pointer: /a, exists: false}]",
            at: "expect[0].exists",
            "must be true; a condition cannot want that a value is missing."
        ),
        Mistake(
            list: "condition without a place",
            "expect: [{equals: ok}]",
            at: "expect[0]",
            "needs pointer, the place in the answer; add it."
        ),
        Mistake(
            list: "condition that is no list",
            "expect: {pointer: /a, exists: true}",
            at: "expect",
            "must be a list, such as [{pointer: /status, equals: ok}]."
        ),
        Mistake(
            list: "least that is no number",
            "expect: [{pointer: /a, at_least: many}]",
            at: "expect[0].at_least",
            "must be a number."
        ),
        Mistake(
            list: "last week",
            "bootstrap: last_week",
            at: "bootstrap",
            "cannot be last_week for a list; use latest or beginning."
        ),
        Mistake(
            list: "strict",
            "validation: strict",
            at: "validation",
            "cannot be strict for a list; use expect, or remove it."
        ),
        Mistake(list: "plans", "plan_ids: [a]", at: "plan_ids", "is only for polls of starred projects; remove it."),
        Mistake(list: "words", "words: [a]", at: "words", "is only for polls of projects_of_interest; remove it."),
        Mistake(
            list: "near",
            "near: {latitude: 1, longitude: 1, km: 1}",
            at: "near",
            "is only for polls of projects_of_interest; remove it."
        ),
        Mistake(
            list: "variable of a text",
            "texts: {single: \"{nam} is out\"}",
            at: "texts.single",
            "has no variable {nam}; use {id}, {link}, {name}."
        ),
        Mistake(
            list: "misspelt setting",
            "item: /data",
            at: "item",
            "there is no such setting; did you mean \"items\"?"
        ),
        Mistake(
            list: "token in the file",
            "token: hunter2",
            at: "token",
            "is a secret, which never belongs here; write it into a file of its own, and name that: headers_file: FILE."
        ),
        Mistake(
            list: "missing headers",
            "headers_file: h.headers",
            at: "headers_file",
            "there is no file FOLDER/h.headers; create it or correct the path."
        ),
        Mistake(
            list: "headers that others read",
            "headers_file: h.headers",
            at: "headers_file",
            "FOLDER/h.headers can be read or changed by other users; run chmod 600 on it.",
            with: [.file("h.headers", "A: b\n", mode: 0o644)]
        ),
        Mistake(
            list: "line that is no header",
            "headers_file: h.headers",
            at: "headers_file",
            "FOLDER/h.headers cannot be used; line 2 must be Name: value; correct it.",
            with: [.file("h.headers", "A: b\nhunter2\n", mode: 0o600)]
        ),
        Mistake(
            list: "header of the agent",
            "headers_file: h.headers",
            at: "headers_file",
            "FOLDER/h.headers cannot be used; line 1 has a header that the agent sets itself; remove it.",
            with: [.file("h.headers", "Host: a.test\n", mode: 0o600)]
        ),
        Mistake(
            list: "header twice",
            "headers_file: h.headers",
            at: "headers_file",
            "FOLDER/h.headers cannot be used; line 3 has the name of an earlier header; remove one.",
            with: [.file("h.headers", "A: b\n\na: c\n", mode: 0o600)]
        ),
    ]

    private static let pollsOfLists: [Mistake] = [
        Mistake(
            "list: without a URL",
            "polls:\n  p:\n    kind: json\n    id: /id\n",
            ["starwatch.yaml:2: polls.p: needs url, the address of the list; add it."]
        ),
        Mistake(
            "list: without an id",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n",
            ["starwatch.yaml:2: polls.p: needs id, the place in an item of what makes it one, such as /id; add it."]
        ),
        Mistake(
            "list: URL in clear text",
            "polls:\n  p:\n    kind: json\n    url: http://a.test/items\n    id: /id\n",
            [
                "starwatch.yaml:4: polls.p.url: must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
            ]
        ),
        Mistake(
            "list: URL with a query",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items?limit=50\n    id: /id\n",
            [
                "starwatch.yaml:4: polls.p.url: must end with its path; move what follows ? to query, such as query: {limit: 50}."
            ]
        ),
        Mistake(
            "list: URL with credentials",
            "polls:\n  p:\n    kind: json\n    url: https://user:pw@a.test/items\n    id: /id\n",
            [
                "starwatch.yaml:4: polls.p.url: must not contain a user or password; credentials belong in a file of their own."
            ]
        ),
        Mistake(
            "list: URL with a fragment",
            "polls:\n  p:\n    kind: json\n    url: \"https://a.test/items#top\"\n    id: /id\n",
            ["starwatch.yaml:4: polls.p.url: must end with its path; remove what follows #."]
        ),
        Mistake(
            "list: URL without a scheme",
            "polls:\n  p:\n    kind: json\n    url: a.test/items\n    id: /id\n",
            ["starwatch.yaml:4: polls.p.url: must be a URL such as https://example.org."]
        ),
        Mistake(
            "list: setting of another kind",
            "polls:\n  p:\n    kind: starred_projects\n    items: /data\n",
            ["starwatch.yaml:4: polls.p.items: is only for polls of the kind json; remove it."]
        ),
        Mistake(
            "list: texts of another kind",
            "polls:\n  p:\n    kind: starred_projects\n    texts: {title: Mine}\n",
            ["starwatch.yaml:4: polls.p.texts: is only for polls of the kind json; remove it."]
        ),
        Mistake(
            "list: name of a command",
            "polls:\n  try:\n    kind: json\n    url: https://a.test/items\n    id: /id\n",
            ["starwatch.yaml:2: polls.try: is a command of starwatch poll; choose another name."]
        ),
        Mistake(
            "list: cursor that is in the query",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n    query: {cursor: a}\n    next: {pointer: /next, parameter: cursor}\n",
            ["starwatch.yaml:7: polls.p.next.parameter: is a parameter of query too; remove it there."]
        ),
        Mistake(
            "list: page that is in the query",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n    query: {page: 1}\n    next: {page: page}\n",
            ["starwatch.yaml:7: polls.p.next.page: is a parameter of query too; remove it there."]
        ),
        Mistake(
            "list: time that is in the query",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n    query: {since: 1}\n    since: {parameter: since, from: /at}\n",
            ["starwatch.yaml:7: polls.p.since.parameter: is a parameter of query too; remove it there."]
        ),
        Mistake(
            "list: time that is the cursor",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n    next: {page: a}\n    since: {parameter: a, from: /at}\n",
            ["starwatch.yaml:7: polls.p.since.parameter: is the parameter of next too; correct one of them."]
        ),
        Mistake(
            "list: token of an Endorser server",
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\nauth: {kind: shared_secret, secret_file: k}\n",
            [
                "starwatch.yaml:6: auth.kind: is for an Endorser server, and all polls are lists; remove auth, or set server.url."
            ],
            with: [.file("k", String(repeating: "1", count: 64), mode: 0o600)]
        ),
        Mistake(
            "list: many accounts",
            "accounts: many\nsecurity: {master_key_command: [unwrap]}\npolls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n",
            [
                "starwatch.yaml:5: polls.p.kind: cannot be json with accounts: many; watch lists with an agent of their own."
            ]
        ),
        Mistake(
            "list: misspelt kind",
            "polls:\n  p:\n    kind: jsn\n    url: https://a.test/items\n    id: /id\n",
            ["starwatch.yaml:3: polls.p.kind: must be one of \(kinds); did you mean \"json\"?"]
        ),
    ]

    /// - Parameters:
    ///   - line: The line that a list has beside its URL and id.
    ///   - key: The setting, below the poll.
    private init(
        list name: String,
        _ line: String,
        at key: String,
        _ message: String,
        with others: [Beside] = []
    ) {
        self.init(
            "list: " + name,
            "polls:\n  p:\n    kind: json\n    url: https://a.test/items\n    id: /id\n    \(line)\n",
            ["starwatch.yaml:6: polls.p.\(key): \(message)"],
            with: others
        )
    }
}

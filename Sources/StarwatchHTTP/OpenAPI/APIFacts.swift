import Starwatch
import StarwatchCore
import StarwatchPolling

/// Facts that the types of the control API cannot say.
enum APIFacts {
    static let about = """
        What changes a running agent, or names people and projects. On the Unix socket control.socket its file mode decides who \
        may; on TCP (control.listen) every request needs the bearer token of control.token_file, and an address that was refused \
        too often gets 429. On both, Host must be an address, localhost, control.listen's host or a name in http.allowed_hosts, \
        and a request with an Origin other than its Host is refused. HTTP/1.1 without Host gets 400. HEAD is GET without the \
        body. Every error has the same shape.
        """

    /// The answers in place of those of a route, by their statuses.
    static let errors: [Int: (name: String, kind: String, meaning: String)] = [
        400: ("BadRequest", "invalid", "The request makes no sense."),
        401: ("Unauthorized", "unauthorized", "The token is missing or wrong. On TCP only."),
        403: ("Forbidden", "forbidden", "Host or Origin is that of a page elsewhere."),
        404: ("NotFound", "not_found", "There is no such poll, row, page or account."),
        409: ("Conflict", "conflict", "It does not fit the agent's state, and nothing was changed."),
        413: ("TooLarge", "invalid", "The body is larger than 1 MiB."),
        429: ("TooMany", "too_many_requests", "Too many requests from this address were refused. On TCP only."),
        500: ("Failed", "failed", "The database or the token's file cannot be read."),
        503: ("Busy", "busy", "As much of it is being done as can be."),
    ]

    /// The header that an error has.
    static let headers: [Int: JSONTree] = [
        401: ["WWW-Authenticate": ["required": true, "schema": ["const": "Bearer"]]],
        429: ["Retry-After": ["required": true, "schema": ["type": "string"]]],
    ]

    /// The names of schemas that are not those of their types; an empty one is a part of another schema.
    static let names = [
        "AccountFailureReport": "AccountFailure", "AccountReport": "Account", "AgentStatus": "Status",
        "ArchivedStarsReport": "",
        "ControlErrorBody": "Error", "FieldChange": "", "HealthyAnswer": "Healthy", "IdentityChoice": "IdentityChange",
        "JournalRecord": "", "KeysReport.SigningKey": "SigningKey", "LogLine": "",
        "NotificationEntry": "SentNotification",
        "NotificationListing": "SentListing", "NotificationMessage": "Notification", "PollingMetrics": "",
        "ReadyAnswer": "Ready", "ShortlinkReport": "Shortlink", "SinkAddress": "",
    ]

    /// The other answer of a run of a poll.
    static let wayBack: JSONTree = [
        "description": "The same, for a browser, which asks for HTML: the way back to the status page.",
        "headers": ["Location": ["required": true, "schema": ["type": "string"]]],
        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/PollReport"]]],
    ]

    static let wholeNumber: [String: JSONTree] = [
        "type": "integer", "format": "int64", "minimum": .number(.min), "maximum": .number(.max),
    ]
    private static let row = with(wholeNumber, ["minimum": 1])
    private static let rows: [String: JSONTree] = ["minItems": 1, "items": .object(row)]
    private static let did: [String: JSONTree] = ["pattern": "^did:[a-z0-9]+:[!-~]+$", "maxLength": 2048]
    private static let name: [String: JSONTree] = ["pattern": "^[a-z][a-z0-9_]{0,62}$"]
    private static let keyName: [String: JSONTree] = ["pattern": "^[A-Za-z0-9._-]{1,64}$"]
    private static let secret: [String: JSONTree] = [
        "minLength": 4, "maxLength": 87_384, "pattern": "^[A-Za-z0-9+/]+={0,2}$",
        "example": "YSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcyBvayE=",
    ]
    private static let id: [String: JSONTree] = ["minLength": 1, "example": "ntf_0123"]
    private static let before = with(
        wholeNumber,
        ["description": "Smaller sequences only: the last one of the page before."]
    )

    private static func with(_ facts: [String: JSONTree], _ more: [String: JSONTree]) -> [String: JSONTree] {
        facts.merging(more) { $1 }
    }

    private static func limit(_ most: Int, _ usual: Int) -> [String: JSONTree] {
        ["type": "integer", "minimum": 1, "maximum": .number(Int64(most)), "default": .number(Int64(usual))]
    }

    private static func name(_ description: JSONTree, _ example: JSONTree) -> [String: JSONTree] {
        with(name, ["description": description, "example": example])
    }

    private static func words(_ words: [String]) -> [String: JSONTree] { ["enum": .list(words.map(JSONTree.text))] }

    private static func words<Word: CaseIterable & RawRepresentable>(
        _ type: Word.Type,
        and more: [String] = []
    ) -> [String: JSONTree] where Word.RawValue == String { words(more + type.allCases.map(\.rawValue)) }

    /// Facts about fields, parameters and arguments that their types do not say: bounds, patterns, words and examples.
    static let facts: [String: [String: JSONTree]] = [
        // Requests.
        "AccountAdditions.accounts": ["maxItems": .number(Int64(AccountAdditions.limit))],
        "AccountAdditions.Entry.polls": ["minItems": 1],
        "AccountExport.did": did, "IdentityChoice.did": did, "IdentityRemoval.did": did,
        "DiscardSelection.ids": rows, "DiscardSelection.poll": name,
        "RowSelection.ids": rows, "RowSelection.poll": name,
        "MasterKeyChange.key": [
            "minLength": 44, "maxLength": 44, "pattern": "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$",
            "example": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
        ],
        "SigningKeyImport.key": secret, "SigningKeyImport.kid": keyName, "SigningKeyRotation.key": secret,
        "SigningKeyRevocation.kid": ["minLength": 1, "maxLength": 64],
        "StarsChange.planIDs[]": ["minLength": 1, "maxLength": 2048],
        // Parameters.
        "AccountQuery.limit": limit(AccountQuery.listLimit, AccountQuery().limit),
        "JournalQuery.limit": limit(JournalQuery.listLimit, JournalQuery().limit),
        "LogQuery.limit": limit(LogQuery.listLimit, LogQuery().limit),
        "LogQuery.level": words(LogLine.Level.self),
        "NotificationQuery.limit": limit(NotificationQuery.listLimit, NotificationQuery().limit),
        "NotificationQuery.change": [
            "pattern": "^([1-9][0-9]{0,17}|[0-9A-HJKMNP-TV-Z]{26}|[0-9]{10}_[0-9A-Za-z]{6}_[0-9a-f]{8})$"
        ],
        "OutboxQuery.limit": limit(OutboxEntry.listLimit, OutboxQuery().limit),
        "OutboxQuery.poll": name, "OutboxQuery.state": words(OutboxState.self), "QuarantineQuery.poll": name,
        "QuarantineQuery.limit": limit(OutboxEntry.listLimit, QuarantineQuery().limit),
        "PollRun.unlessWithin": ["type": "integer", "minimum": 1, "maximum": 31_536_000, "example": 3600],
        "atomFeed.before": before, "jsonFeed.before": before, "privateAtomFeed.before": before,
        "privateJSONFeed.before": before,
        "explainPage.id": ["description": "As in /api/v1/explain/{id}. Without it the page is only a form."],
        "followNotifications.after": with(
            wholeNumber,
            ["minimum": 0, "description": "Begin after this sequence; else only what comes from now on."]
        ),
        "followNotifications.Last-Event-ID": ["description": "As after, and before it: the last id that a client has."],
        "metrics.name[]": [
            "type": "array", "items": ["type": "string"], "description": "Families or samples to keep; can repeat.",
            "example": ["starwatch_poll_success_total"],
        ],
        // Arguments of paths, by the part before them.
        "actions/{action}": with(words(NotificationAction.self), ["example": "snooze_1h"]),
        "digests/{name}": name("The digest's name in the configuration.", "daily"),
        "explain/{id}": [
            "minLength": 1, "description": "A claim id, chg_…, the number of a row, ntf_… or run_….", "example": "17",
        ],
        "feed/{token}": [
            "pattern": "^[0-9a-f]{16,}$", "description": "The token of `control.feed_token_file`, or of an account.",
            "example": "0123456789abcdef",
        ],
        "notifications/{id}": id, "outbox/{id}": with(row, ["example": 17]),
        "polls/{name}": name("The poll's name in the configuration.", "starred_projects"),
        "runbooks/{name}": [
            "description": "The alert's name; .md at its end is ignored.", "example": "StarwatchPollStale",
        ],
        "shortlinks/{id}": ["pattern": "^[A-Za-z0-9_-]{1,64}$", "example": "abc123def456789"],
        "sinks/{name}": name("The sink's name in the configuration.", "hook"),
        // Answers.
        "AccountReport.status": words(["active", "paused"]),
        "AccountReport.sinks[]": words(["set", "missing", "rejecting", "gone"]),
        "AccountImportReport.result": words(["imported", "possible", "known", "refused"]),
        "AccountAdditionsReport.Entry.result": words(["added", "changed", "unchanged", "refused"]),
        "AgentStatus.Problem.severity": words(Problem.Severity.self),
        "AgentStatus.Restarts.lastCause": words(RunEndCause.allCases.filter { !$0.isAskedFor }.map(\.rawValue)),
        "AgentStatus.Restarts.lastDay": ["minimum": 0], "SinkWaitReport.notifications": ["minimum": 0],
        "AgentStatus.Storage.reencryption": ["minimum": 0, "maximum": 1],
        "AgentStatus.TimeZones.source": words(ZoneData.Source.self),
        "ControlErrorBody.Detail.kind": words(
            ControlError.Kind.answered.map(\.rawValue) + ["forbidden", "unauthorized", "too_many_requests"]
        ),
        "DigestReport.mode": words(DigestMode.self),
        "DigestReport.Occurrence.status": words(SlotStatus.self, and: ["planned"]),
        "DigestReport.Occurrence.text": words(DigestText.Kind.self),
        "DigestReport.Occurrence.fetch": words(DigestRow.Prefetch.self),
        "DigestReport.Occurrence.errorCode": words(SlotCode.self),
        "KeysReport.MasterKey.id": ["pattern": "^[0-9a-f]{16}$"], "KeysReport.SigningKey.kid": keyName,
        "ReadyAnswer.databaseCheck": words(["running", "passed", "damaged", "ended"]),
    ]

    /// Examples of texts, and of the names in dictionaries, by the names of fields.
    static let samples: [String: JSONTree] = [
        "account": "did:hash:0123456789abcdef", "did": "did:ethr:0x0000000000000000000000000000000000000001",
        "digests": "daily", "id": "ntf_0123456789abcdef", "jwt_id": "01JGQ3A7B8C9D0E1F2G3H4J5K6", "kid": "5f0c1d2e3a4b",
        "notification_id": "ntf_0123456789abcdef", "plan": "https://endorser.ch/entity/01JG",
        "plan_ids": "https://endorser.ch/entity/01JG", "poll": "starred_projects", "polls": "starred_projects",
        "pseudonym": "did:hash:0123456789abcdef", "run_id": "run_0123456789abcdef", "timezone": "Europe/Zurich",
    ]
}

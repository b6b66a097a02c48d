/// Fields of the agent's events, besides `timestamp`, `level`, `event` and `suppressed`.
package enum LogField: String, Sendable, CaseIterable {
    case actor
    case address
    case attempt
    case cause
    case changeCount = "change_count"
    case changed
    case client
    case configuration
    case copy
    case count
    case dialect
    case digest
    case durationMilliseconds = "duration_ms"
    case endpoint
    case error
    case from
    case group
    case identity
    case kind
    case notificationID = "notification_id"
    case outcome
    case page
    case path
    case poll
    case polls
    case port
    case problem
    case projectCount = "project_count"
    case reason
    case requestID = "request_id"
    case result
    case rowCount = "row_count"
    case runID = "run_id"
    case serverRequestID = "server_request_id"
    case serverError = "server_error"
    case signal
    case since
    case sink
    case sizeMilliseconds = "size_ms"
    case skewMilliseconds = "skew_ms"
    case state
    case target
    case to
    case verb
    case version

    /// Type of a field's value.
    package enum Kind: String, Sendable {
        /// One of a fixed set of words.
        case word
        /// The name of a configured poll, digest or sink.
        case name
        /// A sentence written by the agent, or a path in a response.
        case text
        /// A whole number.
        case count
        /// A number.
        case milliseconds
        /// RFC 3339 in UTC.
        case time
        /// `run_` followed by 16 hexadecimal digits.
        case runID = "run id"
        /// `ntf_` followed by 32 hexadecimal digits.
        case notificationID = "notification id"
        /// Letters, digits, `-` and `_`, up to 64.
        case requestID = "request id"
        /// `did:hash:` followed by 16 hexadecimal digits.
        case pseudonym
        /// `HOST:PORT`.
        case address
        /// An IPv4 address, or a network with its length.
        case network
    }

    package var kind: Kind {
        switch self {
        case .address: .address
        case .client: .network
        case .attempt, .changeCount, .count, .from, .page, .polls, .projectCount, .rowCount, .to: .count
        case .cause, .dialect, .endpoint, .group, .kind, .outcome, .port, .problem, .reason, .result, .state: .word
        case .durationMilliseconds, .sizeMilliseconds, .skewMilliseconds: .milliseconds
        case .actor, .changed, .configuration, .copy, .error, .path, .serverError, .signal, .target, .verb, .version:
            .text
        case .since: .time
        case .identity: .pseudonym
        case .notificationID: .notificationID
        case .digest, .poll, .sink: .name
        case .requestID, .serverRequestID: .requestID
        case .runID: .runID
        }
    }

    /// One-line description.
    package var meaning: String {
        switch self {
        case .actor:
            "Who did it: `socket:` and a user of this machine, `port:` and a name of the web configuration or `token`, "
                + "`command:` and a user while the agent was stopped, `signal`, or `program` for a host program."
        case .address: "Listen address of the HTTP server."
        case .client: "Client that a port refused: its address, its IPv6 network, or 127.0.0.0/8 for this machine."
        case .attempt: "Number of the request's attempt, from 1."
        case .cause:
            "Cause of the end: `killed`, `crashed`, `watchdog`, `out_of_memory`, `machine_restarted`, `stopped_late`."
        case .changed: "Names of the settings that differ from the former configuration."
        case .changeCount: "Changes that were found, delivered or not acknowledged."
        case .configuration:
            "The first 12 hexadecimal digits of a hash of the configuration, keyed with the installation's own key."
        case .copy: "File name of the copy from before the upgrade, beside the database."
        case .count: "Number of changes, dropped events, keys, open files, values or missed runs, by the event."
        case .dialect: "The server's dialect: `endorser` or `canonical`."
        case .digest: "Name of the digest."
        case .durationMilliseconds: "Duration of the cycle, or of the problem."
        case .endpoint: "Label `endpoint` of `starwatch_api_requests_total`."
        case .error: "Cause of the error, in one sentence."
        case .from: "Schema version of the database before the upgrade."
        case .group: "`single`, `several` or `many`."
        case .identity: "Pseudonym of the identity. A DID always has the same pseudonym on one installation."
        case .kind:
            "Kind of contract violation, clock jump or callback event, as in the label of the matching metric; of keys "
                + "`data`, `master` or `signing`."
        case .notificationID: "Id of the notification; webhooks receive it as `webhook-id`."
        case .outcome: "Label `outcome` of `starwatch_poll_outcomes_total` or `starwatch_digest_prefetches_total`."
        case .page: "Number of the page in its cycle, from 1."
        case .path: "JSON path in the response, without values; for a digest, the variable in its template."
        case .poll: "Name of the poll."
        case .polls: "Number of configured polls."
        case .port: "`http` for `http.listen`, or `control` for `control.listen`."
        case .problem: "Problem of the agent, or at `path`."
        case .projectCount: "Projects that the poll asked for."
        case .reason:
            "Reason, as in the label of the matching metric; for a failure, `http_` and the status, or the cause."
        case .requestID: "`X-Request-ID` of the last request. Each attempt has its own."
        case .result:
            "Label `result` of `starwatch_api_requests_total`; for an operator's action, `ok` or the kind of the error."
        case .rowCount: "Number of database rows."
        case .runID:
            "Id of one run, also in stored rows, exemplars and notifications. Delivery and acknowledgement carry the run that "
                + "found their newest change."
        case .serverError: "The server's error code, the rejected field or the missing scope, from fixed lists."
        case .serverRequestID: "The server's own id of that request, from its error body or its `X-Request-ID` header."
        case .signal: "Signal that ended the run."
        case .since: "Time since which it is so, by the local clock. The line can be later."
        case .sink: "Name of the sink."
        case .sizeMilliseconds:
            "Size of the clock jump, length of the suspension, lateness of the digest, or wait that the server asked for; in "
                + "`poll.cursor_ahead`, how far the change is ahead."
        case .skewMilliseconds: "Server time minus local time."
        case .state: "Of a circuit: `closed`, `half_open` or `open`. Of a check: `running` or `passed`."
        case .target: "Object of the action, without personal data: a name, row numbers, options."
        case .to: "Schema version of the database after the upgrade."
        case .verb: "The action, as its path in the control API: `outbox.discard`."
        case .version: "Version of the agent."
        }
    }
}

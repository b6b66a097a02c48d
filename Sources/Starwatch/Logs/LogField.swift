/// The fields that events of the agent may carry, beside `timestamp`, `level`, `event` and `suppressed`.
package enum LogField: String, Sendable, CaseIterable {
    case address
    case attempt
    case changeCount = "change_count"
    case count
    case dialect
    case digest
    case durationMilliseconds = "duration_ms"
    case endpoint
    case error
    case group
    case identity
    case kind
    case notificationID = "notification_id"
    case outcome
    case path
    case poll
    case polls
    case problem
    case reason
    case result
    case rowCount = "row_count"
    case runID = "run_id"
    case sink
    case sizeMilliseconds = "size_ms"
    case skewMilliseconds = "skew_ms"
    case state
    case version

    /// What a field's value may be.
    package enum Kind: String, Sendable {
        /// One of a fixed set of words.
        case word
        /// The name of a poll, digest or sink of the configuration.
        case name
        /// A sentence of the agent's own, or a place in an answer.
        case text
        /// A whole number.
        case count
        /// A number.
        case milliseconds
        /// `run_` and 16 hexadecimal digits.
        case runID = "run id"
        /// `ntf_` and 32 hexadecimal digits.
        case notificationID = "notification id"
        /// `did:hash:` and 16 hexadecimal digits.
        case pseudonym
        /// `HOST:PORT`.
        case address
    }

    package var kind: Kind {
        switch self {
        case .address: .address
        case .attempt, .changeCount, .count, .polls, .rowCount: .count
        case .dialect, .endpoint, .group, .kind, .outcome, .problem, .reason, .result, .state: .word
        case .durationMilliseconds, .sizeMilliseconds, .skewMilliseconds: .milliseconds
        case .error, .path, .version: .text
        case .identity: .pseudonym
        case .notificationID: .notificationID
        case .digest, .poll, .sink: .name
        case .runID: .runID
        }
    }

    /// One line on what it says.
    package var meaning: String {
        switch self {
        case .address: "Where the HTTP server listens."
        case .attempt: "Which try of the request it was, from 1."
        case .changeCount: "Changes that were found, delivered or not acknowledged."
        case .count: "Changes in the notification, or events that were dropped."
        case .dialect: "What the server speaks: `endorser` or `canonical`."
        case .digest: "The digest's name."
        case .durationMilliseconds: "How long the cycle took."
        case .endpoint: "As the label of `starwatch_api_requests_total`."
        case .error: "What went wrong, in one sentence."
        case .group: "`single`, `several` or `many`."
        case .identity: "The pseudonym of the identity; the same DID always has the same on one installation."
        case .kind: "Of a broken contract, a clock's jump or a callback's event, as the metrics' label."
        case .notificationID: "The notification; a webhook has it as `webhook-id`."
        case .outcome: "As the label of `starwatch_poll_outcomes_total`, or of `starwatch_digest_prefetches_total`."
        case .path: "Where in the answer, as a JSON path without values; of a digest, the name in its template."
        case .poll: "The poll's name."
        case .polls: "How many polls are configured."
        case .problem: "What is wrong there."
        case .reason: "Why, as the metrics' label."
        case .result: "How the request ended, as the label of `starwatch_api_requests_total`."
        case .rowCount: "Rows of the outbox."
        case .runID: "One pass; the same in stored rows, exemplars and what sinks get."
        case .sink: "The sink's name."
        case .sizeMilliseconds: "How far the clock jumped, how long the machine slept, or how late a digest is."
        case .skewMilliseconds: "The server's time minus ours."
        case .state: "`closed`, `half_open` or `open`."
        case .version: "Of the agent."
        }
    }
}

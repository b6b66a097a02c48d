import Logging

// The events, in the order of their names.
extension AgentEvent: CaseIterable {
    private static let request: [LogField] = [.requestID, .serverRequestID]
    private static let cycle: [LogField] = [
        .runID, .identity, .poll, .outcome, .projectCount, .changeCount, .durationMilliseconds,
    ]
    private static let attempt: [LogField] = [.runID, .notificationID, .identity, .sink, .error, .reason]

    static let accountsChanged = AgentEvent("accounts.changed", .notice, [.kind, .count]) {
        "An operator added, paused, resumed, moved, removed or erased accounts."
    }
    static let acknowledgeFailed = AgentEvent(
        "acknowledge.failed",
        .warning,
        [.runID, .identity, .changeCount, .error, .reason],
        optional: request + [.serverError]
    ) {
        "The server did not accept a batch of acknowledgements, or its answer could not be read. The agent sends it "
            + "again later with the same key. After three rejections it sends half of the batch with a new key; an "
            + "answer that cannot be read is no rejection. A single change rejected five times counts as acknowledged "
            + "if the last response was a 200 that rejects it; after any other status the agent keeps retrying."
    }
    static let acknowledgeLocal = AgentEvent("acknowledge.local", .notice, [.runID, .reason], optional: request) {
        "The server has no acknowledgement endpoint (404). The agent records acknowledgements only locally; it tries "
            + "the endpoint again after 24 h and after a restart."
    }
    static let acknowledgeNoToken = AgentEvent(
        "acknowledge.no_token",
        .warning,
        [.runID, .identity, .error, .reason]
    ) {
        "No token was available to acknowledge changes. Fix `auth`; nothing is lost in the meantime."
    }
    static let acknowledgeStoreFailed = AgentEvent("acknowledge.store_failed", .error, [.error]) {
        "The database failed while acknowledging. Check the disk; the agent retries after 5 s."
    }
    static let agentFailed = AgentEvent("agent.failed", .error, [.error], folds: false) {
        "The agent could not start, or a part of it failed. It exits with code 2 if the configuration, a secret or the "
            + "database is unusable, else with 1. Fix the error and start it again. Only in JSON logs."
    }
    static let agentOpenFilesLow = AgentEvent("agent.open_files_low", .warning, [.count], folds: false) {
        "The agent may have fewer open files and connections than four for each of `limits.max_concurrent_polls`. Without "
            + "a free one, requests and deliveries fail until one is closed. Raise the limit (`LimitNOFILE` in systemd), or "
            + "lower the setting."
    }
    static let agentRunEnded = AgentEvent("agent.run_ended", .warning, [.cause], optional: [.signal], folds: false) {
        "The former run did not end by itself: it was killed, crashed, or ended with the machine. Nothing is lost. "
            + "`starwatch incident` shows what came before."
    }
    static let agentStarted = AgentEvent("agent.started", .notice, [.version, .polls], folds: false) {
        "The agent started."
    }
    static let agentStopped = AgentEvent("agent.stopped", .notice, folds: false) { "The agent stopped as requested." }
    static let apiFailure = AgentEvent(
        "api.failure",
        .debug,
        [.requestID, .runID, .endpoint, .result, .attempt, .error, .reason],
        optional: [.serverRequestID, .serverError]
    ) {
        "One attempt of a request failed. A later event reports the result of its cycle."
    }
    static let callbackDropped = AgentEvent("callback.dropped", .warning, [.count]) {
        "Callback events were dropped because they were too old or too many. Check why the receiver does not accept "
            + "them."
    }
    static let callbackRefused = AgentEvent("callback.refused", .warning, [.kind, .error, .reason]) {
        "A callback's receiver rejected an event. The agent retries it with backoff for 14 days."
    }
    static let callbackStoreFailed = AgentEvent("callback.store_failed", .error, [.error]) {
        "The database failed while sending callback events. Check the disk."
    }
    static let callbackUnavailable = AgentEvent("callback.unavailable", .warning, [.kind, .error, .reason]) {
        "A callback's receiver was unreachable or timed out. The agent retries until it responds."
    }
    static let canaryStoreFailed = AgentEvent("canary.store_failed", .error, [.error]) {
        "The database failed while a canary was stored. Check the disk."
    }
    static let clockJump = AgentEvent("clock.jump", .notice, [.kind, .sizeMilliseconds]) {
        "The local clock was set, or the machine slept. The agent keeps its measurement of the server's clock."
    }
    static let clockNoAnswer = AgentEvent("clock.no_answer", .warning, [.error]) {
        "A server of `clock.ntp_servers` returned no time. The agent asks the next one, else it retries with backoff."
    }
    static let clockSkewed = AgentEvent("clock.skewed", .warning, [.skewMilliseconds, .error]) {
        "The local clock is off by more than `clock.max_skew`. Fix the machine's time synchronisation."
    }
    static let clockOfTokens = AgentEvent("clock.tokens", .warning, [.skewMilliseconds]) {
        "The server refused a token by the time of its `Date`, and took one by another clock, `skew_ms` from the local one. "
            + "Tokens go by that one now. Correct the clock of the server or of a proxy before it."
    }
    static let configRefused = AgentEvent("config.refused", .error, [.error, .actor], folds: false) {
        "A configuration reload was rejected; the previous configuration stays in force. Fix the error and send SIGHUP "
            + "again."
    }
    static let configReloaded = AgentEvent(
        "config.reloaded",
        .notice,
        [.actor, .configuration],
        optional: [.changed],
        folds: false
    ) {
        "The configuration was reloaded and is in force."
    }
    static let controlRefused = AgentEvent(
        "control.refused",
        .warning,
        [.error, .reason],
        optional: [.client],
        boxed: false
    ) {
        "The control API refused a request: no or a wrong token or password, another `Host`, a page of another origin, "
            + "or too many refusals of its address. If no client of yours is misconfigured, restrict who can reach "
            + "`control.listen`."
    }
    static let digestEmpty = AgentEvent("digest.empty", .info, [.digest]) {
        "A digest was not shown because its content is empty and `on_empty` is `skip`."
    }
    static let digestFetchFailed = AgentEvent("digest.fetch_failed", .warning, [.runID, .digest, .outcome, .error]) {
        "A digest's content could not be fetched. `on_missing` decides what the digest shows."
    }
    static let digestFired = AgentEvent("digest.fired", .info, [.runID, .digest, .sizeMilliseconds]) {
        "A digest's time has come, and its text goes to the sinks."
    }
    static let digestNotShown = AgentEvent("digest.not_shown", .warning, [.digest, .reason]) {
        "A digest was not shown. See its `reason` and the runbook StarwatchDigestNotShown."
    }
    static let digestShown = AgentEvent("digest.shown", .info, [.digest]) {
        "A digest was shown: at least one sink accepted it, and no delivery is pending."
    }
    static let digestStoreFailed = AgentEvent("digest.store_failed", .error, [.error]) {
        "The database failed while arming or firing a digest. Check the disk."
    }
    static let digestVariable = AgentEvent("digest.variable", .warning, [.digest, .path]) {
        "A template names a variable that the content does not have; the text keeps it unchanged. Correct the "
            + "template."
    }
    static let dispatchStoreFailed = AgentEvent("dispatch.store_failed", .error, [.error]) {
        "The database failed during delivery. Check the disk; a notification can arrive twice, with the same id."
    }
    static let fleetStoreFailed = AgentEvent("fleet.store_failed", .error, [.error]) {
        "The database failed while accounts were claimed or released. Check the disk; they are visited again within 30 s."
    }
    static let httpClearText = AgentEvent("http.clear_text", .warning, [.port]) {
        "The port listens beyond this machine without TLS, and a password or the control token passes over the network "
            + "in clear text. Add TLS to its `web_config_file`."
    }
    static let httpListening = AgentEvent("http.listening", .notice, [.address], folds: false) {
        "The HTTP server is ready to serve `/metrics` and the status page."
    }
    static let httpRefused = AgentEvent(
        "http.refused",
        .warning,
        [.error, .reason],
        optional: [.client],
        boxed: false
    ) {
        "`http.listen` refused a request: no or a wrong password, another `Host`, or too many refusals of its address. "
            + "If no client of yours is misconfigured, restrict who can reach the port."
    }
    static let identityChanged = AgentEvent("identity.changed", .notice, [.rowCount], optional: [.identity]) {
        "The active identity changed or was signed out. The previous identity's open rows are cancelled."
    }
    static let identityErased = AgentEvent("identity.erased", .notice, [.identity]) {
        "An identity was erased from the database, with its keys."
    }
    static let keysRevoked = AgentEvent("keys.revoked", .notice, [.count], folds: false) {
        "Signing keys were revoked, by an operator or at the end of their grace. Their secrets are destroyed."
    }
    static let keysRotated = AgentEvent("keys.rotated", .notice, [.kind, .count], folds: false) {
        "Keys of the encrypted database were replaced: the master key, the data keys, whose values are then encrypted "
            + "again in the background, or a signing key."
    }
    static let keysRotationEnded = AgentEvent("keys.rotation_ended", .notice, [.rowCount]) {
        "Every value is encrypted with the new data keys, and the former ones are destroyed."
    }
    static let keysStoreFailed = AgentEvent("keys.store_failed", .error, [.error]) {
        "The database failed while values were encrypted again, or signing keys revoked. The agent retries."
    }
    static let notification = AgentEvent(
        "notification",
        .notice,
        [.runID, .notificationID, .poll, .group, .count],
        folds: false,
        boxed: false
    ) {
        "A notification, written by a sink of kind `log`."
    }
    static let notificationDelivered = AgentEvent(
        "notification.delivered",
        .info,
        [.runID, .notificationID, .poll, .changeCount]
    ) {
        "A notification reached every required sink."
    }
    static let operatorAction = AgentEvent(
        "operator.action",
        .notice,
        [.verb, .actor, .result],
        optional: [.target, .error],
        folds: false
    ) {
        "Somebody changed something with a command, a page or the control API. `starwatch journal` lists these actions."
    }
    static let outboxEvicted = AgentEvent("outbox.evicted", .warning, [.runID, .poll, .rowCount]) {
        "The outbox exceeded `outbox.max_undelivered`. Rows were evicted according to `outbox.eviction` and are "
            + "fetched again later."
    }
    static let outboxUnreadable = AgentEvent("outbox.unreadable", .error, [.count]) {
        "Stored values do not open, because they were changed or moved. Their rows became dead letters, and a "
            + "notification without its text is made again if no sink has it. All others are delivered. `starwatch "
            + "keys verify` lists the values."
    }
    static let pollBootstrapped = AgentEvent("poll.bootstrapped", .info, cycle, optional: request) {
        "The first cycle of a poll set its starting point at the newest change and announced nothing."
    }
    static let pollCancelled = AgentEvent(
        "poll.cancelled",
        .info,
        cycle + [.error, .reason],
        optional: request + [.serverError]
    ) {
        "The agent stopped, or the identity or its stars changed, during the cycle; pages fetched before are kept. "
            + "This is no failure."
    }
    static let pollChanged = AgentEvent("poll.changed", .info, cycle, optional: request) { "A cycle found changes." }
    static let pollContractViolation = AgentEvent(
        "poll.contract_violation",
        .warning,
        [.runID, .poll, .kind, .path, .problem],
        optional: request
    ) {
        "A server response violates the contract, and nothing of it was stored. Report it to the server's operator."
    }
    static let pollCursorAhead = AgentEvent("poll.cursor_ahead", .warning, [.runID, .poll, .sizeMilliseconds]) {
        "The newest known change is later than the server's time: the server's clock was set back, or the local clock "
            + "is behind. The agent asks for everything since the time before the step. Check both clocks."
    }
    static let pollDeferred = AgentEvent(
        "poll.deferred",
        .notice,
        cycle + [.error, .reason],
        optional: request + [.serverError]
    ) {
        "The cycle waits for a rate limit of the server or the agent. It resumes automatically."
    }
    static let pollEndpointMissing = AgentEvent(
        "poll.endpoint_missing",
        .notice,
        [.runID, .poll, .endpoint],
        optional: request
    ) {
        "The server has no endpoint for a poll (404), so the poll rests; polls of the same endpoint, and other accounts, "
            + "rest without another event. The agent tries the endpoint again after 24 h, after a reload or restart, and "
            + "with `starwatch poll NAME`."
    }
    static let pollFailed = AgentEvent(
        "poll.failed",
        .warning,
        cycle + [.error, .reason],
        optional: request + [.serverError]
    ) {
        "The cycle failed; pages fetched before the failure are kept. If it continues, see the runbook "
            + "StarwatchPollFailing."
    }
    static let pollItemQuarantined = AgentEvent(
        "poll.item_quarantined",
        .warning,
        [.runID, .poll, .kind, .page, .path, .problem],
        optional: request
    ) {
        "One item of a page is invalid, and `quarantine_invalid` let the rest of the page through. `starwatch "
            + "quarantine list` lists such items. Report it to the server's operator."
    }
    static let pollOutOfRoom = AgentEvent(
        "poll.out_of_room",
        .notice,
        [.runID, .poll, .changeCount],
        optional: request
    ) {
        "The outbox is full. The agent fetches the remaining changes within a minute after there is room. Check why "
            + "the sinks accept no more."
    }
    static let pollPageOutOfOrder = AgentEvent("poll.page_out_of_order", .warning, [.runID, .poll], optional: request) {
        "A page was out of order; the agent sorted it. Report it to the server's operator."
    }
    static let pollPlansLeftOut = AgentEvent(
        "poll.plans_left_out",
        .warning,
        [.runID, .poll, .projectCount],
        optional: request
    ) {
        "The account issued or is the agent of more projects than `limits.max_own_plans`. The poll asks for the newest alone, "
            + "`project_count` of them, and first for those that the account issued. Raise the setting, or star the others "
            + "and add a poll of the kind `gives_to_starred`. Logged once, until a cycle leaves out none."
    }
    static let pollRunsMissed = AgentEvent("poll.runs_missed", .notice, [.poll, .count]) {
        "Runs of a poll fell due while the agent did not run, the machine slept, or the account was not visited. The next run "
            + "fetches their changes."
    }
    static let pollSkipped = AgentEvent("poll.skipped", .notice, [.runID, .poll, .reason]) {
        "A cycle was skipped for a different reason than the last one."
    }
    static let pollSkippedAgain = AgentEvent("poll.skipped_again", .debug, [.runID, .poll, .reason]) {
        "A cycle was skipped for the same reason as the last one."
    }
    static let pollStoreFailed = AgentEvent(
        "poll.store_failed",
        .error,
        [.error],
        optional: [.runID, .poll, .requestID, .serverRequestID]
    ) {
        "The database failed during a cycle. Check the disk; the next cycle fetches again."
    }
    static let pollUnchanged = AgentEvent("poll.unchanged", .debug, cycle, optional: request) {
        "A cycle found no changes."
    }
    static let problemBegan = AgentEvent(
        "problem.began",
        .warning,
        [.problem, .since],
        optional: [.poll, .port, .sink],
        folds: false
    ) {
        "Something is wrong. `starwatch status` lists all problems with the next command; the help page has their meaning."
    }
    static let problemEnded = AgentEvent(
        "problem.ended",
        // As its beginning, which the stored log would otherwise keep for longer.
        .warning,
        [.problem, .since, .durationMilliseconds],
        optional: [.poll, .port, .sink],
        folds: false
    ) {
        "A problem is gone."
    }
    static let retentionCleaned = AgentEvent("retention.cleaned", .info, [.rowCount]) {
        "Rows past their retention time were deleted."
    }
    static let retentionStoreFailed = AgentEvent("retention.store_failed", .error, [.error]) {
        "The database failed during cleanup. Check the disk."
    }
    static let serverDialect = AgentEvent("server.dialect", .notice, [.runID, .poll, .dialect], optional: request) {
        "The first response revealed the server's dialect. The agent stores it."
    }
    static let serverWait = AgentEvent("server.wait", .warning, [.runID, .endpoint, .sizeMilliseconds]) {
        "The server asked for a wait of a minute or more. The agent sends no request before its end; `starwatch server "
            + "clear-wait` ends the wait, if the server's operator agrees."
    }
    static let serverWaitCapped = AgentEvent("server.wait_capped", .warning, [.runID, .endpoint, .sizeMilliseconds]) {
        "The server asked for a wait of more than 7 days. The agent waits 7 days; `starwatch server clear-wait` ends "
            + "the wait."
    }
    static let sinkCircuit = AgentEvent("sink.circuit", .notice, [.runID, .sink, .state]) {
        "The circuit breaker of a sink changed its state."
    }
    static let sinkGivenUp = AgentEvent("sink.given_up", .warning, attempt) {
        "A sink was down for longer than its `give_up_after`. The notification is a dead letter of this sink; "
            + "`starwatch outbox retry` sends it again."
    }
    static let sinkGone = AgentEvent("sink.gone", .warning, attempt) {
        "A sink returned 410 Gone and is disabled until a reload. Correct its URL or remove it."
    }
    static let sinkRejected = AgentEvent("sink.rejected", .warning, attempt) {
        "A sink rejected a notification. After `outbox.max_retries` rejections a required sink's changes become dead "
            + "letters, even if other sinks received them. An optional sink's changes stay delivered."
    }
    static let sinkUnavailable = AgentEvent("sink.unavailable", .warning, attempt) {
        "A sink was unreachable or timed out. The agent retries until it responds."
    }
    static let starsUnreadable = AgentEvent("stars.unreadable", .error) {
        "The stored stars do not open or are not a list of plan identifiers, so none are polled. Nothing overwrites "
            + "them until `starwatch stars set` replaces them."
    }
    static let storageCheck = AgentEvent("storage.check", .notice, [.state], folds: false) {
        "The check of the database's pages began or passed. It follows an unclean end, while the agent works."
    }
    static let storageCheckFailed = AgentEvent("storage.check_failed", .warning, [.error]) {
        "The check of the database's pages was not possible. Check the disk; the next start checks again."
    }
    static let storageClear = AgentEvent("storage.clear", .notice, folds: false) {
        "The database is not encrypted, because no master key is configured."
    }
    static let storageDamaged = AgentEvent("storage.damaged", .error, [.error], folds: false) {
        "The check found damage in the database. The agent writes nothing more and ends with exit code 2. Restore a "
            + "backup."
    }
    static let storageLost = AgentEvent("storage.lost", .error, [], optional: [.copy, .error], folds: false) {
        "The path of the database does not name the open file any more. The agent copied the database to the named file, and "
            + "copies it again when it stops. Stop it, and move the copy to the path."
    }
    static let storageOlderCopy = AgentEvent("storage.older_copy", .warning, [.since], folds: false) {
        "The journal lacks the end of a run that the black box has. Perhaps somebody put an older copy of the database "
            + "back: what the agent did since then is forgotten, and changes can be announced again."
    }
    static let storageUpgraded = AgentEvent("storage.upgraded", .notice, [.from, .to], optional: [.copy], folds: false)
    {
        "The start upgraded the database's schema. A former program opens only the copy, which is kept for "
            + "`storage.keep_before_upgrade`. `starwatch journal` lists the upgrade."
    }
    static let tokenUnavailable = AgentEvent(
        "token.unavailable",
        .warning,
        [.runID, .identity, .error, .reason]
    ) {
        "No token is available, so no request is sent. Fix `auth`: its file, its command or the clock."
    }
    static let webConfigRefused = AgentEvent("web_config.refused", .error, [.error, .port], folds: false) {
        "A changed web configuration, or a certificate or key that it names, cannot be used. The former one stays in "
            + "force. Correct the file; the agent rereads it by itself."
    }
    static let webConfigReloaded = AgentEvent("web_config.reloaded", .notice, [.port], folds: false) {
        "A changed web configuration, certificate or key is in force for new connections."
    }

    /// Every event above. `ReadmeTests` finds one that is missing.
    package static let allCases: [AgentEvent] = [
        accountsChanged, acknowledgeFailed, acknowledgeLocal, acknowledgeNoToken, acknowledgeStoreFailed, agentFailed,
        agentOpenFilesLow, agentRunEnded,
        agentStarted, agentStopped, apiFailure, callbackDropped, callbackRefused, callbackStoreFailed,
        callbackUnavailable, canaryStoreFailed, clockJump, clockNoAnswer, clockSkewed, clockOfTokens, configRefused,
        configReloaded,
        controlRefused, digestEmpty, digestFetchFailed, digestFired, digestNotShown, digestShown, digestStoreFailed,
        digestVariable, dispatchStoreFailed, fleetStoreFailed, httpClearText, httpListening, httpRefused,
        identityChanged, identityErased,
        keysRevoked, keysRotated, keysRotationEnded, keysStoreFailed, notification, notificationDelivered,
        operatorAction, outboxEvicted, outboxUnreadable, pollBootstrapped, pollCancelled, pollChanged,
        pollContractViolation, pollCursorAhead, pollDeferred, pollEndpointMissing, pollFailed, pollItemQuarantined,
        pollOutOfRoom,
        pollPageOutOfOrder, pollPlansLeftOut, pollRunsMissed, pollSkipped, pollSkippedAgain, pollStoreFailed,
        pollUnchanged, problemBegan,
        problemEnded, retentionCleaned, retentionStoreFailed, serverDialect, serverWait, serverWaitCapped, sinkCircuit,
        sinkGivenUp, sinkGone, sinkRejected, sinkUnavailable, starsUnreadable, storageCheck, storageCheckFailed,
        storageClear, storageDamaged, storageLost, storageOlderCopy, storageUpgraded, tokenUnavailable,
        webConfigRefused, webConfigReloaded,
    ]
}

package import StarwatchCore
import StarwatchTransport

/// The verbs of the control API. A new one also needs its work in the room of its topic, and its path in `openapi.json`.
package enum ControlAPI {
    /// The longest waits for an answer.
    enum Patience {
        /// Most verbs take less than a second.
        static let usual = Duration.seconds(10)
        /// The server or a sink must answer too.
        static let ofServer = Duration.seconds(120)
        /// Work in progress must end first, or many rows change.
        static let ofWrites = Duration.seconds(60)
        /// Every row is read or rewritten.
        static let ofWholeDatabase = Duration.seconds(900)
    }

    package static let status = Verb(.get, "/api/v1/status", counts: nil) {
        await $0.status.status()
    }

    // MARK: - Polls, sinks and the process

    /// Runs one cycle with delivery and acknowledgement, whatever the schedule says.
    package static let runPoll = Verb(
        .post,
        "/api/v1/polls/{name}/run",
        counts: .pollRun,
        taking: PollRun.form,
        // A cycle ends after 10 minutes by default, and delivery follows.
        patience: .seconds(900)
    ) {
        try await $0.polls.run($1)
    }
    /// Asks the server for one page of a poll with the agent's own token, and stores and delivers nothing.
    package static let tryPoll = Verb(.post, "/api/v1/polls/{name}/try", taking: .text, patience: Patience.ofServer) {
        try await $0.polls.trial($1)
    }
    /// Sends a test notification to one sink, past its queue, circuit and counters.
    package static let testSink = Verb(
        .post,
        "/api/v1/sinks/{name}/test",
        counts: .sinkTest,
        taking: .text,
        patience: Patience.ofServer
    ) {
        try await $0.sinks.test($1)
    }
    /// Ends the wait that the server asked for.
    package static let clearServerWait = Verb(.post, "/api/v1/server/clear-wait", counts: .serverClearWait) {
        try await $0.polls.clearServerWait()
    }
    package static let reload = Verb(.post, "/api/v1/reload", counts: .reload) { topics in
        try await topics.reloader.reload()
        return ReloadAnswer(reloaded: true)
    }

    // MARK: - Outbox and quarantine

    /// The newest rows first.
    package static let outboxList = Verb(
        .get,
        "/api/v1/outbox",
        taking: .query(
            OutboxQuery(),
            [
                .text("state", \.state), .text("poll", \.poll), .flag("twice", \.twice), .number("before", \.before),
                .limit(\.limit),
            ]
        )
    ) {
        try await $0.outbox.list($1)
    }
    /// A row with the result of every sink.
    package static let outboxShow = Verb(
        .get,
        "/api/v1/outbox/{id}",
        taking: RequestForm<Int64>.argument(
            read: { Parameters.number($0) },
            write: { String($0) },
            otherwise: "An outbox id is a number; see \"starwatch outbox list\"."
        )
    ) {
        try await $0.outbox.show($1)
    }
    /// Retries dead letters. If one of the rows does not exist or is no dead letter, none is retried.
    package static let outboxRetry = Verb(
        .post,
        "/api/v1/outbox/retry",
        counts: .outboxRetry,
        taking: selection,
        patience: Patience.ofWrites
    ) {
        try await $0.outbox.retry($1)
    }
    /// Discards dead letters and claimed rows. If one of the rows does not exist or is neither, none is discarded.
    package static let outboxDiscard = Verb(
        .post,
        "/api/v1/outbox/discard",
        counts: .outboxDiscard,
        taking: RequestForm<DiscardSelection>.body(
            #"{"ids": [1, 2]} or {"all": true, "poll": "…", "state": "claimed"}"#,
            check: { try $0.check() }
        ),
        patience: Patience.ofWrites
    ) {
        try await $0.outbox.discard($1)
    }
    /// The invalid items of the server that were rejected alone (`quarantine_invalid`), newest first.
    package static let quarantineList = Verb(
        .get,
        "/api/v1/quarantine",
        taking: .query(QuarantineQuery(), [.text("poll", \.poll), .number("before", \.before), .limit(\.limit)])
    ) {
        QuarantineListing(entries: try await $0.quarantine.list($1))
    }
    /// Hides invalid items. One stays hidden as long as the server sends it with the same faults. Ignores other ids.
    package static let quarantineDiscard = Verb(
        .post,
        "/api/v1/quarantine/discard",
        counts: .quarantineDiscard,
        taking: selection,
        patience: Patience.ofWrites
    ) { topics, items in
        guard let ids = items.ids else {
            return ChangeCount(changed: try await topics.quarantine.discardAll(poll: items.poll))
        }
        return ChangeCount(changed: try await topics.quarantine.discard(ids))
    }

    private static let selection = RequestForm<RowSelection>.body(#"{"ids": [1, 2]} or {"all": true, "poll": "…"}"#) {
        try $0.check()
    }

    // MARK: - Identity and stars

    package static let identity = Verb(.get, "/api/v1/identity") {
        try await $0.identity.current()
    }
    /// Changes the active identity, or signs out.
    package static let setIdentity = Verb(
        .put,
        "/api/v1/identity",
        counts: .identitySet,
        taking: RequestForm<IdentityChoice>.body(
            #"{"did": "did:…"} or {"did": null}"#,
            check: { _ = try $0.account() }
        ),
        patience: Patience.ofWrites
    ) {
        try await $0.identity.set($1)
    }
    /// Schedules the deletion of an account that is not active. Signing in within 30 days restores it.
    package static let removeIdentity = Verb(
        .post,
        "/api/v1/identity/remove",
        counts: .identityRemove,
        taking: account,
        patience: Patience.ofWrites
    ) {
        try await $0.identity.remove($1)
    }
    /// Deletes everything of an account that is not active, now and for good.
    package static let eraseIdentity = Verb(
        .post,
        "/api/v1/identity/erase",
        counts: .identityErase,
        taking: account,
        patience: Patience.ofWholeDatabase
    ) {
        try await $0.identity.erase($1)
    }

    private static let account = RequestForm<IdentityRemoval>.body(#"{"did": "did:…"}"#) { _ = try $0.account() }

    /// The starred plans of the active identity, with their known names.
    package static let stars = Verb(.get, "/api/v1/stars") { try await $0.stars.listing() }
    /// Changes the stars and returns all of them.
    package static let changeStars = Verb(
        .post,
        "/api/v1/stars",
        counts: .starsChange,
        taking: RequestForm<StarsChange>.body(
            #"{"operation": "set", "plan_ids": ["…"]}, with set, add, remove, restore, opt_out or opt_in"#
        )
    ) {
        try await $0.stars.change($1)
    }
    /// The active identity's stars before each change of identity, newest first.
    package static let archivedStars = Verb(.get, "/api/v1/stars/archived") { try await $0.stars.archived() }

    // MARK: - Keys

    /// The keys of the database.
    package static let keys = Verb(.get, "/api/v1/keys") { try await $0.keys.report() }
    /// Replaces the data keys. The values are then encrypted again in the background.
    package static let rotateDataKeys = Verb(.post, "/api/v1/keys/rotate", counts: .keysRotate) {
        try await $0.keys.rotateDataKeys()
    }
    /// Opens every encrypted value.
    package static let verifyKeys = Verb(.post, "/api/v1/keys/verify", patience: Patience.ofWholeDatabase) {
        try await $0.keys.verify()
    }
    /// Wraps the data keys with another master key.
    package static let changeMasterKey = Verb(
        .post,
        "/api/v1/keys/master",
        counts: .keysRotate,
        taking: RequestForm<MasterKeyChange>.body(#"{"key": "…"}"#),
        onSocketOnly: "The master key is changed",
        patience: Patience.ofWrites
    ) {
        try await $0.keys.changeMasterKey($1)
    }
    /// Makes the key of a file the active one of the active identity.
    package static let importSigningKey = Verb(
        .post,
        "/api/v1/keys/signing",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyImport>.body(#"{"key": "…"}, with "kid" for a name"#),
        onSocketOnly: "A signing key is imported",
        patience: Patience.ofWrites
    ) {
        try await $0.signingKeys.importKey($1)
    }
    /// Makes a new shared secret the active one of the active identity.
    package static let rotateSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/rotate",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRotation>.body(#"{"key": "…"}, with "emergency": true in an emergency"#),
        onSocketOnly: "The signing key is rotated",
        patience: Patience.ofWrites
    ) {
        try await $0.signingKeys.rotate($1)
    }
    /// Destroys the secret of a signing key at once.
    package static let revokeSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/revoke",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRevocation>.body(#"{"kid": "…"}, with "force": true for the active key"#),
        patience: Patience.ofWrites
    ) {
        try await $0.signingKeys.revoke($1)
    }

    // MARK: - Digests

    /// The configured digests, with past and future occurrences.
    package static let digests = Verb(.get, "/api/v1/digests") { try await $0.digests.list() }
    /// Fetches a digest's content now. Takes 12 s at most.
    package static let fetchDigest = Verb(
        .post,
        "/api/v1/digests/{name}/fetch",
        counts: .digestsFetch,
        taking: .text,
        patience: Patience.ofServer
    ) {
        try await $0.digests.fetch($1)
    }
    /// Shows a digest's stored content now, after one attempt at every sink.
    package static let showDigest = Verb(
        .post,
        "/api/v1/digests/{name}/show",
        counts: .digestsShow,
        taking: .text,
        patience: Patience.ofServer
    ) {
        try await $0.digests.show($1)
    }

    // MARK: - Notifications

    /// The notifications that the sink of kind `feed` keeps, newest first.
    package static let feed = Verb(.get, "/api/v1/notifications", taking: notifications) {
        try await $0.notifications.feed($1)
    }
    /// The active identity's notifications, newest first.
    package static let notificationList = Verb(
        .get,
        "/api/v1/notifications/sent",
        taking: .query(
            NotificationQuery(),
            [.limit(\.limit), .number("before", \.before), .text("change", \.change)]
        )
    ) {
        try await $0.notifications.list($1)
    }

    private static let notifications = RequestForm.query(
        NotificationQuery(),
        [.limit(\.limit), .number("before", \.before)]
    )

    package static let notificationShow = Verb(.get, "/api/v1/notifications/{id}", taking: .text) {
        try await $0.notifications.show($1)
    }
    /// Performs the action that a person chose. Repeating it changes nothing.
    package static let notificationAct = Verb(
        .post,
        "/api/v1/notifications/{id}/actions/{action}",
        counts: .notificationsAct,
        taking: ChosenAction.form
    ) {
        try await $0.notifications.act($1)
    }
    package static let shortlinkShow = Verb(
        .get,
        "/api/v1/shortlinks/{id}",
        taking: RequestForm<Shortlink>.argument(
            read: { Shortlink($0) },
            write: { $0.rawValue },
            otherwise: "A shortlink is 1 to 64 letters, digits, - and _."
        )
    ) {
        try await $0.notifications.shortlink($1)
    }

    // MARK: - Stories and the log

    /// The life of a change, a notification, an outbox row or a run, by its claim id, `chg_…`, the number of a row,
    /// `ntf_…` or `run_…`. Of a claim without a row, a project or a time it says what covers it.
    package static let explain = Verb(.get, "/api/v1/explain/{id}", taking: .text) {
        try await $0.stories.explain($1)
    }
    /// Lines of the stored log, in the order in which they were logged.
    package static let logs = Verb(
        .get,
        "/api/v1/logs",
        taking: .query(
            LogQuery(),
            [
                .text("since", \.since), LogQuery.levelField, .text("run", \.run), .number("after", \.after),
                .limit(\.limit),
            ]
        )
    ) {
        var listing = try await $0.logs.lines($1)
        if listing.lines.isEmpty, $1.after == nil, let run = $1.run {
            listing.note = try await $0.stories.note(ofRun: run)
        }
        return listing
    }

    /// Entries of the journal, in the order in which they were made.
    package static let journal = Verb(
        .get,
        "/api/v1/journal",
        taking: .query(JournalQuery(), [.text("since", \.since), .limit(\.limit)])
    ) {
        try await $0.journal.list($1)
    }

    /// All verbs but ``status``, which the read-only server has too. A path that overlaps another comes after it.
    package static let controls: [any AnyVerb] = [
        runPoll, tryPoll, testSink, clearServerWait, reload,
        outboxList, outboxRetry, outboxDiscard, outboxShow, quarantineList, quarantineDiscard,
        identity, setIdentity, removeIdentity, eraseIdentity, stars, changeStars, archivedStars,
        keys, rotateDataKeys, verifyKeys, changeMasterKey, importSigningKey, rotateSigningKey, revokeSigningKey,
        digests, fetchDigest, showDigest,
        feed, notificationList, notificationShow, notificationAct, shortlinkShow, explain, logs, journal,
    ]
}

extension PollRun {
    /// A year, in seconds.
    private static let longestWithin: Int64 = 31_536_000

    static var form: RequestForm<PollRun> {
        let parameter = "unless_within"
        var form = RequestForm<PollRun> { run in
            var request = ControlRequest()
            request.arguments = [run.name]
            if let within = run.unlessWithin { request.query = [(parameter, "\(within.components.seconds)")] }
            return request
        } read: { request in
            let seconds = try Parameters(request.query, allowing: [parameter]).number(parameter)
            if let seconds, !(1...longestWithin).contains(seconds) {
                throw ControlError(.invalid, "\(parameter) must be from 1 to \(longestWithin) seconds.")
            }
            return PollRun(request.arguments[0], unlessWithin: seconds.map { .seconds($0) })
        }
        form.parameters = [parameter]
        return form
    }
}

extension ChosenAction {
    static var form: RequestForm<ChosenAction> {
        RequestForm { chosen in
            var request = ControlRequest()
            request.arguments = [chosen.notification, chosen.action.rawValue]
            return request
        } read: { request in
            guard let action = NotificationAction(rawValue: request.arguments[1]) else {
                let names = NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(.invalid, "There is no such action; use one of \(names).")
            }
            return ChosenAction(action, on: request.arguments[0])
        }
    }
}

extension LogQuery {
    fileprivate static let levelField = QueryField<LogQuery>(name: "level") {
        $0.level?.rawValue
    } read: { query, word in
        guard let level = LogLine.Level(rawValue: word) else {
            let words = LogLine.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalid, "There is no such level; use one of \(words).")
        }
        query.level = level
    }
}

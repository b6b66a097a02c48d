package import StarwatchCore
import StarwatchTransport

/// The verbs of the control API. A new one also needs its work in the agent and its path in `openapi.json`.
package enum ControlAPI {
    package static let status = Verb(.get, "/api/v1/status", isImmediate: true) { await $0.status() }

    // MARK: - Polls, sinks and the process

    /// Runs one cycle with delivery and acknowledgement, whatever the schedule says.
    package static let runPoll = Verb(.post, "/api/v1/polls/{name}/run", taking: PollRun.form) { agent, run in
        try await agent.runPoll(run.name, unlessWithin: run.unlessWithin)
    }
    /// Asks the server for one page of a poll with the agent's own token, and stores and delivers nothing.
    package static let tryPoll = Verb(.post, "/api/v1/polls/{name}/try", taking: .text) { agent, name in
        try await agent.tryPoll(name)
    }
    /// Sends a test notification to one sink, past its queue, circuit and counters.
    package static let testSink = Verb(.post, "/api/v1/sinks/{name}/test", taking: .text) { agent, name in
        try await agent.testSink(name)
    }
    /// Ends the wait that the server asked for.
    package static let clearServerWait = Verb(.post, "/api/v1/server/clear-wait") { try await $0.clearServerWait() }
    package static let reload = Verb(.post, "/api/v1/reload") { agent in
        try await agent.reload()
        return ReloadAnswer(reloaded: true)
    }

    // MARK: - Outbox and quarantine

    /// The newest rows first.
    package static let outboxList = Verb(
        .get,
        "/api/v1/outbox",
        taking: .query(
            OutboxQuery(),
            [.text("state", \.state), .text("poll", \.poll), .number("before", \.before), .limit(\.limit)]
        )
    ) { agent, query in
        OutboxListing(entries: try await agent.outboxList(query))
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
    ) { agent, id in
        try await agent.outboxShow(id)
    }
    /// Retries dead letters. If one of the rows does not exist or is no dead letter, none is retried.
    package static let outboxRetry = Verb(.post, "/api/v1/outbox/retry", taking: selection) { agent, rows in
        guard let ids = rows.ids else { return ChangeCount(changed: try await agent.outboxRetryAll(poll: rows.poll)) }
        return ChangeCount(changed: try await agent.outboxRetry(ids))
    }
    /// Discards dead letters and claimed rows. If one of the rows does not exist or is neither, none is discarded.
    package static let outboxDiscard = Verb(
        .post,
        "/api/v1/outbox/discard",
        taking: RequestForm<DiscardSelection>.body(
            #"{"ids": [1, 2]} or {"all": true, "poll": "…", "state": "claimed"}"#,
            check: { try $0.check() }
        )
    ) { agent, rows in
        guard let ids = rows.ids else {
            return ChangeCount(changed: try await agent.outboxDiscardAll(poll: rows.poll, in: rows.state ?? .dead))
        }
        return ChangeCount(changed: try await agent.outboxDiscard(ids))
    }
    /// The invalid items of the server that were rejected alone (`quarantine_invalid`), newest first.
    package static let quarantineList = Verb(
        .get,
        "/api/v1/quarantine",
        taking: .query(QuarantineQuery(), [.text("poll", \.poll), .number("before", \.before), .limit(\.limit)])
    ) { agent, query in
        QuarantineListing(entries: try await agent.quarantineList(query))
    }
    /// Hides invalid items. One stays hidden as long as the server sends it with the same faults. Ignores other ids.
    package static let quarantineDiscard = Verb(.post, "/api/v1/quarantine/discard", taking: selection) { agent, rows in
        guard let ids = rows.ids else {
            return ChangeCount(changed: try await agent.quarantineDiscardAll(poll: rows.poll))
        }
        return ChangeCount(changed: try await agent.quarantineDiscard(ids))
    }

    private static let selection = RequestForm<RowSelection>.body(#"{"ids": [1, 2]} or {"all": true, "poll": "…"}"#) {
        try $0.check()
    }

    // MARK: - Identity and stars

    package static let identity = Verb(.get, "/api/v1/identity", isImmediate: true) { try await $0.identity() }
    /// Changes the active identity, or signs out.
    package static let setIdentity = Verb(
        .put,
        "/api/v1/identity",
        taking: RequestForm<IdentityChoice>.body(#"{"did": "did:…"} or {"did": null}"#, check: { _ = try $0.account() })
    ) { agent, choice in
        try await agent.setIdentity(try choice.account())
    }
    /// Schedules the deletion of an account that is not active. Signing in within 30 days restores it.
    package static let removeIdentity = Verb(.post, "/api/v1/identity/remove", taking: account) { agent, removal in
        try await agent.removeIdentity(try removal.account())
    }
    /// Deletes everything of an account that is not active, now and for good.
    package static let eraseIdentity = Verb(.post, "/api/v1/identity/erase", taking: account) { agent, removal in
        try await agent.eraseIdentity(try removal.account())
    }

    private static let account = RequestForm<IdentityRemoval>.body(#"{"did": "did:…"}"#) { _ = try $0.account() }

    /// The starred plans of the active identity, with their known names.
    package static let stars = Verb(.get, "/api/v1/stars", isImmediate: true) { try await $0.starsListing() }
    /// Changes the stars and returns all of them.
    package static let changeStars = Verb(
        .post,
        "/api/v1/stars",
        taking: RequestForm<StarsChange>.body(
            #"{"operation": "set", "plan_ids": ["…"]}, with set, add, remove, restore, opt_out or opt_in"#
        )
    ) { agent, change in
        StarsListing(planIDs: try await agent.changeStars(change))
    }
    /// The active identity's stars before each change of identity, newest first.
    package static let archivedStars = Verb(.get, "/api/v1/stars/archived") {
        StarsArchive(archived: try await $0.archivedStars())
    }

    // MARK: - Keys

    /// The keys of the database.
    package static let keys = Verb(.get, "/api/v1/keys", isImmediate: true) { try await $0.keys() }
    /// Replaces the data keys. The values are then encrypted again in the background.
    package static let rotateDataKeys = Verb(.post, "/api/v1/keys/rotate") { try await $0.rotateDataKeys() }
    /// Opens every encrypted value.
    package static let verifyKeys = Verb(.post, "/api/v1/keys/verify") { try await $0.verifyKeys() }
    /// Wraps the data keys with another master key.
    package static let changeMasterKey = Verb(
        .post,
        "/api/v1/keys/master",
        taking: RequestForm<MasterKeyChange>.body(#"{"key": "…"}"#),
        onSocketOnly: "The master key is changed"
    ) { agent, change in
        try await agent.changeMasterKey(to: change.key)
    }
    /// Makes the key of a file the active one of the active identity.
    package static let importSigningKey = Verb(
        .post,
        "/api/v1/keys/signing",
        taking: RequestForm<SigningKeyImport>.body(#"{"key": "…"}, with "kid" for a name"#),
        onSocketOnly: "A signing key is imported"
    ) { agent, key in
        try await agent.importSigningKey(key)
    }
    /// Makes a new shared secret the active one of the active identity.
    package static let rotateSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/rotate",
        taking: RequestForm<SigningKeyRotation>.body(#"{"key": "…"}, with "emergency": true in an emergency"#),
        onSocketOnly: "The signing key is rotated"
    ) { agent, rotation in
        try await agent.rotateSigningKey(rotation)
    }
    /// Destroys the secret of a signing key at once.
    package static let revokeSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/revoke",
        taking: RequestForm<SigningKeyRevocation>.body(#"{"kid": "…"}, with "force": true for the active key"#)
    ) { agent, revocation in
        try await agent.revokeSigningKey(revocation)
    }

    // MARK: - Digests

    /// The configured digests, with past and future occurrences.
    package static let digests = Verb(.get, "/api/v1/digests") { DigestListing(digests: try await $0.digests()) }
    /// Fetches a digest's content now. Takes 12 s at most.
    package static let fetchDigest = Verb(.post, "/api/v1/digests/{name}/fetch", taking: .text) { agent, name in
        try await agent.fetchDigest(name)
    }
    /// Shows a digest's stored content now, after one attempt at every sink.
    package static let showDigest = Verb(.post, "/api/v1/digests/{name}/show", taking: .text) { agent, name in
        try await agent.showDigest(name)
    }

    // MARK: - Notifications

    /// The notifications that the sink of kind `feed` keeps, newest first.
    package static let feed = Verb(.get, "/api/v1/notifications", taking: notifications) { agent, query in
        FeedListing(notifications: try await agent.feed(query))
    }
    /// The active identity's notifications, newest first.
    package static let notificationList = Verb(.get, "/api/v1/notifications/sent", taking: notifications) {
        NotificationListing(notifications: try await $0.notificationList($1))
    }

    private static let notifications = RequestForm.query(
        NotificationQuery(),
        [.limit(\.limit), .number("before", \.before)]
    )

    package static let notificationShow = Verb(.get, "/api/v1/notifications/{id}", taking: .text) { agent, id in
        try await agent.notificationShow(id)
    }
    /// Performs the action that a person chose. Repeating it changes nothing.
    package static let notificationAct = Verb(
        .post,
        "/api/v1/notifications/{id}/actions/{action}",
        taking: ChosenAction.form
    ) { agent, chosen in
        try await agent.notificationAct(chosen.notification, chosen.action)
    }
    package static let shortlinkShow = Verb(
        .get,
        "/api/v1/shortlinks/{id}",
        taking: RequestForm<Shortlink>.argument(
            read: { Shortlink($0) },
            write: { $0.rawValue },
            otherwise: "A shortlink is 1 to 64 letters, digits, - and _."
        )
    ) { agent, shortlink in
        try await agent.shortlinkShow(shortlink)
    }

    // MARK: - Stories and the log

    /// The life of a change, a notification, an outbox row or a run, by its claim id, `chg_…`, the number of a row,
    /// `ntf_…` or `run_…`.
    package static let explain = Verb(.get, "/api/v1/explain/{id}", taking: .text) { agent, id in
        try await agent.explain(id)
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
    ) { agent, query in
        LogListing(lines: try await agent.logs(query))
    }

    /// All verbs but ``status``, which the read-only server has too. A path that overlaps another comes after it.
    package static let controls: [any AnyVerb] = [
        runPoll, tryPoll, testSink, clearServerWait, reload,
        outboxList, outboxRetry, outboxDiscard, outboxShow, quarantineList, quarantineDiscard,
        identity, setIdentity, removeIdentity, eraseIdentity, stars, changeStars, archivedStars,
        keys, rotateDataKeys, verifyKeys, changeMasterKey, importSigningKey, rotateSigningKey, revokeSigningKey,
        digests, fetchDigest, showDigest,
        feed, notificationList, notificationShow, notificationAct, shortlinkShow, explain, logs,
    ]
}

/// A cycle to run.
package struct PollRun: Sendable, Hashable {
    package var name: String
    /// The poll is skipped as `recent` if its last success is younger; whole seconds. `nil` never skips.
    package var unlessWithin: Duration?

    package init(_ name: String, unlessWithin: Duration? = nil) {
        (self.name, self.unlessWithin) = (name, unlessWithin)
    }

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

/// An action that a person chose on a notification.
package struct ChosenAction: Sendable, Hashable {
    package var notification: String
    package var action: NotificationAction

    package init(_ action: NotificationAction, on notification: String) {
        (self.notification, self.action) = (notification, action)
    }

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

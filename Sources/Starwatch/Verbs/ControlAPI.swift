package import StarwatchCore
import StarwatchTransport

/// The verbs of the control API: ``status``, and those of ``ControlVerbs`` by their names.
@dynamicMemberLookup package enum ControlAPI {
    /// The header that names one of many accounts. A query would be in the logs of proxies.
    package static let accountHeader = "Starwatch-Account"

    /// An entry of ``ControlVerbs/addAccounts`` alone, as a line of a file has it.
    package static let accountLine = RequestForm<AccountAdditions.Entry>.body(
        #"{"did": "did:…", "stars": ["…"], "sinks": {"hook": {"url": "https://…"}}}"#
    ) { try $0.checkFields() }

    /// Returns the agent's status: polls, outbox, clock and server.
    package static let status = Verb(.get, "/api/v1/status", counts: nil) {
        await $0.status.status()
    }

    private static let verbs = ControlVerbs()

    package static subscript<Input, Answer>(
        dynamicMember verb: KeyPath<ControlVerbs, Verb<Input, Answer>>
    ) -> Verb<Input, Answer> { verbs[keyPath: verb] }

    /// All verbs but ``status``, which the read-only server has too, by their names in the order of their declarations.
    package static let named = Mirror(reflecting: verbs).children.compactMap { name, value in
        (value as? any AnyVerb).flatMap { verb in name.map { (name: $0, verb: verb) } }
    }
    package static let controls = named.map(\.verb)
}

/// The verbs of the control API that only its own ports have.
///
/// A new one is a property here, and its work in the room of its topic. The OpenAPI description has its name, and its comment:
/// the first sentence as the summary. A path that overlaps another comes after it.
package struct ControlVerbs: Sendable {
    // MARK: - Polls, sinks and the process

    /// Runs a poll now, whatever the schedule says. Delivery and acknowledgement follow. The cycle can also be skipped or fail.
    package let runPoll = Verb(
        .post,
        "/api/v1/polls/{name}/run",
        counts: .pollRun,
        taking: PollRun.form,
        patience: .ofCycle
    ) { try await $0.polls.run($1) }
    /// Tries a poll without storing anything. The agent asks the server for one page with its own token, and delivers and
    /// acknowledges nothing.
    package let tryPoll = Verb(.post, "/api/v1/polls/{name}/try", taking: .text, patience: .ofServer) {
        try await $0.polls.trial($1)
    }
    /// Sends test notifications to a sink, past its queue, circuit and counters. They are examples: one change with a link,
    /// several changes, and a notice. After an answer that is not about a notification, no further one is sent.
    package let testSink = Verb(
        .post,
        "/api/v1/sinks/{name}/test",
        counts: .sinkTest,
        taking: .text,
        patience: .ofSinkTest
    ) { try await $0.sinks.test($1) }
    /// Ends the wait that a sink asked for. The notifications that waited are due, unless the sink's hours hold them.
    package let clearSinkWait = Verb(.post, "/api/v1/sinks/{name}/clear-wait", counts: .sinkClearWait, taking: .text) {
        try $0.checkAccountIsNamed()
        return try await $0.sinks.clearWait($1)
    }
    /// Ends the wait that the server asked for.
    package let clearServerWait = Verb(
        .post,
        "/api/v1/server/clear-wait",
        counts: .serverClearWait,
        patience: .usual
    ) {
        let report = try await $0.polls.clearServerWait()
        $0.fleet?.accounts.wake.raise()
        return report
    }
    /// Reads the configuration again, as SIGHUP. A file with an error is rejected as a whole, and the former configuration stays.
    /// The agent ends this connection.
    package let reload = Verb(.post, "/api/v1/reload", counts: .reload) { topics in
        try await topics.reloader.reload()
        return ReloadAnswer(reloaded: true)
    }

    // MARK: - Outbox and quarantine

    /// Lists the outbox, newest rows first.
    package let listOutbox = Verb(
        .get,
        "/api/v1/outbox",
        taking: .query(
            OutboxQuery(),
            [
                .text("state", \.state), .text("poll", \.poll), .flag("twice", \.twice), .number("before", \.before),
                .limit(\.limit),
            ]
        )
    ) { try await $0.outbox.list($1) }
    /// Retries dead letters. If one of the rows does not exist or is no dead letter, none is retried.
    package let retryOutbox = Verb(.post, "/api/v1/outbox/retry", counts: .outboxRetry, taking: Self.selection) {
        try await $0.outbox.retry($1)
    }
    /// Discards dead letters and claimed rows. If one of the rows does not exist or is neither, none is discarded.
    package let discardOutbox = Verb(
        .post,
        "/api/v1/outbox/discard",
        counts: .outboxDiscard,
        taking: RequestForm<DiscardSelection>.body(
            #"{"ids": [1, 2]} or {"all": true, "poll": "…", "state": "claimed"}"#,
            check: { try $0.check() }
        )
    ) { try await $0.outbox.discard($1) }
    /// Shows a row with the result of every sink.
    package let showOutboxRow = Verb(
        .get,
        "/api/v1/outbox/{id}",
        taking: RequestForm<Int64>.argument(
            read: { Parameters.number($0) },
            write: { String($0) },
            otherwise: "An outbox id is a number; see \"starwatch outbox list\"."
        )
    ) { try await $0.outbox.show($1) }
    /// Lists the invalid items of the server that were rejected alone (`quarantine_invalid`), newest first.
    package let listQuarantine = Verb(
        .get,
        "/api/v1/quarantine",
        taking: .query(QuarantineQuery(), [.text("poll", \.poll), .number("before", \.before), .limit(\.limit)])
    ) { QuarantineListing(entries: try await $0.polls.quarantined($1)) }
    /// Hides invalid items. One stays hidden as long as the server sends it with the same faults. Ignores other ids.
    package let discardQuarantine = Verb(
        .post,
        "/api/v1/quarantine/discard",
        counts: .quarantineDiscard,
        taking: Self.selection
    ) { ChangeCount(changed: try await $0.polls.discardQuarantined($1.ids, poll: $1.poll)) }

    private static let selection = RequestForm<RowSelection>.body(#"{"ids": [1, 2]} or {"all": true, "poll": "…"}"#) {
        try $0.check()
    }

    // MARK: - Identity and stars

    /// Shows the active identity.
    package let showIdentity = Verb(.get, "/api/v1/identity") { try await $0.identity.current() }
    /// Changes the active identity, or signs out. What waits for the former one is cancelled, its stars are kept for 30 days, and
    /// its feed is emptied.
    package let setIdentity = Verb(
        .put,
        "/api/v1/identity",
        counts: .identitySet,
        taking: RequestForm<IdentityChoice>.body(
            #"{"did": "did:…"} or {"did": null}"#,
            check: { _ = try $0.account() }
        )
    ) { try await $0.identity.set($1) }
    /// Switches a kind of poll off, or on again, for the active identity. Undelivered changes of a kind that is switched off are
    /// suppressed. The stars stay.
    package let chooseKind = Verb(
        .post,
        "/api/v1/identity/kinds",
        counts: .identityKinds,
        taking: RequestForm<KindChoice>.body(#"{"kind": "offers_to_me", "opted_out": true}"#)
    ) { try await $0.identity.choose($1) }
    /// Schedules the deletion of an account that is not active. Signing in within 30 days keeps it, and announces
    /// later changes only.
    package let removeIdentity = Verb(.post, "/api/v1/identity/remove", counts: .identityRemove, taking: Self.account) {
        try await $0.identity.remove($1)
    }
    /// Deletes everything of an account that is not active, now and for good. In an encrypted database its keys are destroyed
    /// first.
    package let eraseIdentity = Verb(
        .post,
        "/api/v1/identity/erase",
        counts: .identityErase,
        taking: Self.account,
        patience: .ofWholeDatabase
    ) { try await $0.identity.erase($1) }

    private static let account = RequestForm<IdentityRemoval>.body(#"{"did": "did:…"}"#) { _ = try $0.account() }

    /// Lists the starred plans of the active identity, with their known names.
    package let listStars = Verb(.get, "/api/v1/stars") {
        try $0.checkAccountIsNamed()
        return try await $0.identity.listing()
    }
    /// Changes the stars and returns all of them.
    package let changeStars = Verb(
        .post,
        "/api/v1/stars",
        counts: .starsChange,
        taking: RequestForm<StarsChange>.body(
            #"{"operation": "set", "plan_ids": ["…"]}, with set, add, remove, restore, opt_out or opt_in"#
        ),
        patience: .usual
    ) { try await $0.identity.change($1) }
    /// Lists the active identity's stars before each change of identity, newest first. They are kept for 30 days.
    package let listArchivedStars = Verb(.get, "/api/v1/stars/archived") { try await $0.identity.archived() }

    // MARK: - Many accounts

    /// Lists the accounts of an agent with `accounts: many`, page by page. The order is fixed, and not that of the DIDs.
    package let listAccounts = Verb(
        .get,
        "/api/v1/accounts",
        taking: .query(AccountQuery(), [.limit(\.limit), .text("after", \.after), .flag("failing", \.failing)])
    ) { try await $0.ofMany().list($1) }
    /// Adds accounts, and changes the stars and addresses of those that exist. Entries with a mistake are refused, and the others
    /// are added; the answer has a result for each.
    package let addAccounts = Verb(
        .post,
        "/api/v1/accounts",
        counts: .accountsChange,
        taking: RequestForm<AccountAdditions>.body(#"{"accounts": [{"did": "did:…", "stars": ["…"]}]}"#) {
            for entry in $0.accounts { try entry.checkFields() }
        }
    ) { try await $0.ofMany().add($1) }
    /// Shows an account.
    package let showAccount = Verb(.post, "/api/v1/accounts/show", taking: Self.account, patience: .usual) {
        try await $0.ofMany().show(try $1.account())
    }
    /// Stops the work for an account. What is stored stays, and is delivered once the account is resumed.
    package let pauseAccount = Verb(.post, "/api/v1/accounts/pause", counts: .accountsChange, taking: Self.account) {
        try await $0.ofMany().pause($1)
    }
    /// Resumes the work for an account. It is due at once.
    package let resumeAccount = Verb(.post, "/api/v1/accounts/resume", counts: .accountsChange, taking: Self.account) {
        try await $0.ofMany().resume($1)
    }
    /// Stops serving an account, cancels what waits for delivery, and schedules the deletion of its data. Adding it within 30
    /// days keeps the data.
    package let removeAccount = Verb(.post, "/api/v1/accounts/remove", counts: .accountsChange, taking: Self.account) {
        try await $0.ofMany().remove($1)
    }
    /// Deletes everything of an account now and for good. Its keys are destroyed first.
    package let eraseAccount = Verb(
        .post,
        "/api/v1/accounts/erase",
        counts: .accountsChange,
        taking: Self.account,
        patience: .ofWholeDatabase
    ) { topics, removal in
        try await topics.ofMany().stop(removal)
        let report = try await topics.identity.erase(removal)
        try topics.ofMany().noteErasure()
        return report
    }

    /// Hands out all that is stored of an account, for another agent, and stops serving it. Only through the control socket.
    /// Repeating it hands out the same. An agent for one account also exports its active identity.
    package let exportAccount = Verb(
        .post,
        "/api/v1/accounts/export",
        counts: .accountsChange,
        taking: RequestForm<AccountExport>.body(#"{"did": "did:…"}, with "trial": true to change nothing"#) {
            _ = try $0.account()
        },
        onSocketOnly: "An account is exported",
        patience: .ofServer
    ) { try await $0.moves.export($1) }
    /// Stores what another agent handed out of an account, and serves it. Only through the control socket. Repeating it changes
    /// nothing. The body can have 64 MiB.
    package let importAccount = Verb(
        .post,
        "/api/v1/accounts/import",
        counts: .accountsChange,
        taking: RequestForm<AccountImport>.body(#"{"bundle": "…"}, with "trial": true to change nothing"#),
        onSocketOnly: "An account is imported",
        patience: .ofServer
    ) { try await $0.moves.take($1) }

    // MARK: - Keys

    /// Lists the keys of the database, without their secrets.
    package let listKeys = Verb(.get, "/api/v1/keys") { try await $0.keys.report() }
    /// Replaces the data keys. The values are then encrypted again in the background.
    package let rotateDataKeys = Verb(.post, "/api/v1/keys/rotate", counts: .keysRotate, patience: .usual) {
        try await $0.keys.rotateDataKeys()
    }
    /// Opens every encrypted value.
    package let verifyKeys = Verb(.post, "/api/v1/keys/verify", patience: .ofWholeDatabase) {
        try await $0.keys.verify()
    }
    /// Wraps the data keys with another master key. Only through the control socket.
    package let changeMasterKey = Verb(
        .post,
        "/api/v1/keys/master",
        counts: .keysRotate,
        taking: RequestForm<MasterKeyChange>.body(#"{"key": "…"}"#),
        onSocketOnly: "The master key is changed"
    ) { try await $0.keys.changeMasterKey($1) }
    /// Stores the key of a file as the active signing key of the active identity. Only through the control socket. The former key
    /// retires.
    package let importSigningKey = Verb(
        .post,
        "/api/v1/keys/signing",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyImport>.body(#"{"key": "…"}, with "kid" for a name"#),
        onSocketOnly: "A signing key is imported"
    ) { try await $0.keys.importKey($1) }
    /// Makes a new shared secret the active signing key of the active identity. Only through the control socket, and only with
    /// `auth.stored_keys`.
    package let rotateSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/rotate",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRotation>.body(#"{"key": "…"}, with "emergency": true in an emergency"#),
        onSocketOnly: "The signing key is rotated"
    ) { try await $0.keys.rotate($1) }
    /// Destroys the secret of a signing key at once. The active key only with `force`.
    package let revokeSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/revoke",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRevocation>.body(#"{"kid": "…"}, with "force": true for the active key"#)
    ) { try await $0.keys.revoke($1) }

    // MARK: - Digests

    /// Lists the configured digests, with past and future occurrences.
    package let listDigests = Verb(.get, "/api/v1/digests") { try await $0.digests.list() }
    /// Fetches a digest's content now. The fetch takes 12 s at most, and can fail. What is armed is armed anew.
    package let fetchDigest = Verb(
        .post,
        "/api/v1/digests/{name}/fetch",
        counts: .digestsFetch,
        taking: .text,
        patience: .ofServer
    ) { try await $0.digests.fetch($1) }
    /// Shows a digest now, after one attempt at every sink: its stored content while that is young enough, or else the fixed
    /// text. The digest's times are not affected.
    package let showDigest = Verb(
        .post,
        "/api/v1/digests/{name}/show",
        counts: .digestsShow,
        taking: .text,
        patience: .ofServer
    ) { try await $0.digests.show($1) }

    // MARK: - Notifications

    /// Lists the notifications that the sink of kind `feed` keeps, newest first.
    package let listNotifications = Verb(.get, "/api/v1/notifications", taking: Self.notifications) {
        try $0.checkAccountIsNamed()
        return try await $0.notifications.feed($1)
    }
    /// Lists the active identity's notifications with what was done with them, newest first.
    package let listSentNotifications = Verb(
        .get,
        "/api/v1/notifications/sent",
        taking: .query(NotificationQuery(), [.limit(\.limit), .number("before", \.before), .text("change", \.change)])
    ) { try await $0.notifications.list($1) }

    /// Returns the token in the address of an account's feed, which it makes or replaces. Without `accounts: many` it only notes
    /// in the journal that a command has made or replaced the token. Only through the control socket.
    package let changeFeedToken = Verb(
        .post,
        "/api/v1/feed/token",
        counts: .feedToken,
        taking: RequestForm<FeedTokenChange>.body(#"{"operation": "rotate"}, with create or rotate"#),
        onSocketOnly: "The token of a feed is changed",
        patience: .usual
    ) { try await $0.notifications.changeToken($1) }

    private static let notifications = RequestForm.query(
        NotificationQuery(),
        [.limit(\.limit), .number("before", \.before)]
    )

    /// Shows a notification and what became of it.
    package let showNotification = Verb(.get, "/api/v1/notifications/{id}", taking: .text) {
        try await $0.notifications.show($1)
    }
    /// Performs the action that a person chose. Repeating it changes nothing.
    package let actOnNotification = Verb(
        .post,
        "/api/v1/notifications/{id}/actions/{action}",
        counts: .notificationsAct,
        taking: ChosenAction.form,
        // A refresh waits for a cycle of the poll.
        patience: .ofCycle
    ) { try await $0.notifications.act($1) }
    /// Shows the changes that a shortlink stands for, for 24 hours.
    package let showShortlink = Verb(
        .get,
        "/api/v1/shortlinks/{id}",
        taking: RequestForm<Shortlink>.argument(
            read: { Shortlink($0) },
            write: { $0.rawValue },
            otherwise: "A shortlink is 1 to 64 letters, digits, - and _."
        )
    ) { try await $0.notifications.shortlink($1) }

    // MARK: - Stories and the log

    /// Tells the life of a change, a notification or a run, and what it waits for. For a claim without a row, a project or a
    /// time, it says what covers it. The story contains no DID, claim id, plan or name.
    package let explain = Verb(.get, "/api/v1/explain/{id}", taking: .text) {
        try await $0.stories.explain($1)
    }
    /// Lists lines of the stored log, in the order in which they were logged.
    package let listLogs = Verb(
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
        var listing = try await $0.process.logs.recorder.lines($1, of: $0.process.store)
        if listing.lines.isEmpty, $1.after == nil, let run = $1.run {
            listing.note = try await $0.stories.note(ofRun: run)
        }
        return listing
    }

    /// Lists entries of the journal, in the order in which they were made: the changes of operators, reloads, and ends of runs.
    package let listJournal = Verb(
        .get,
        "/api/v1/journal",
        taking: .query(JournalQuery(), [.text("since", \.since), .limit(\.limit)])
    ) { try await $0.process.journal.list($1) }
}

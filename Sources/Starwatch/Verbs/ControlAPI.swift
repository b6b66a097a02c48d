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

    package static let status = Verb(.get, "/api/v1/status", counts: nil) {
        await $0.status.status()
    }

    private static let verbs = ControlVerbs()

    package static subscript<Input, Answer>(
        dynamicMember verb: KeyPath<ControlVerbs, Verb<Input, Answer>>
    ) -> Verb<Input, Answer> { verbs[keyPath: verb] }

    /// All verbs but ``status``, which the read-only server has too, in the order of their declarations.
    package static let controls = Mirror(reflecting: verbs).children.compactMap { $0.value as? any AnyVerb }
}

/// The verbs of the control API that only its own ports have.
///
/// A new one is a property here, its work in the room of its topic, and its path in `openapi.json`. A path that overlaps
/// another comes after it.
package struct ControlVerbs: Sendable {
    // MARK: - Polls, sinks and the process

    /// Runs one cycle with delivery and acknowledgement, whatever the schedule says.
    package let runPoll = Verb(
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
    package let tryPoll = Verb(.post, "/api/v1/polls/{name}/try", taking: .text, patience: ControlAPI.Patience.ofServer)
    {
        try await $0.polls.trial($1)
    }
    /// Sends test notifications to one sink, past its queue, circuit and counters.
    package let testSink = Verb(
        .post,
        "/api/v1/sinks/{name}/test",
        counts: .sinkTest,
        taking: .text,
        patience: ControlAPI.Patience.ofSinkTest
    ) {
        try await $0.sinks.test($1)
    }
    /// Ends the wait that a sink asked for.
    package let clearSinkWait = Verb(
        .post,
        "/api/v1/sinks/{name}/clear-wait",
        counts: .sinkClearWait,
        taking: .text,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try $0.checkAccountIsNamed()
        return try await $0.sinks.clearWait($1)
    }
    /// Ends the wait that the server asked for.
    package let clearServerWait = Verb(.post, "/api/v1/server/clear-wait", counts: .serverClearWait) {
        let report = try await $0.polls.clearServerWait()
        $0.fleet?.service.wake.raise()
        return report
    }
    package let reload = Verb(.post, "/api/v1/reload", counts: .reload, patience: ControlAPI.Patience.ofWrites) {
        topics in
        try await topics.reloader.reload()
        return ReloadAnswer(reloaded: true)
    }

    // MARK: - Outbox and quarantine

    /// The newest rows first.
    package let outboxList = Verb(
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
    /// Retries dead letters. If one of the rows does not exist or is no dead letter, none is retried.
    package let outboxRetry = Verb(
        .post,
        "/api/v1/outbox/retry",
        counts: .outboxRetry,
        taking: Self.selection,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.outbox.retry($1)
    }
    /// Discards dead letters and claimed rows. If one of the rows does not exist or is neither, none is discarded.
    package let outboxDiscard = Verb(
        .post,
        "/api/v1/outbox/discard",
        counts: .outboxDiscard,
        taking: RequestForm<DiscardSelection>.body(
            #"{"ids": [1, 2]} or {"all": true, "poll": "…", "state": "claimed"}"#,
            check: { try $0.check() }
        ),
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.outbox.discard($1)
    }
    /// A row with the result of every sink.
    package let outboxShow = Verb(
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
    /// The invalid items of the server that were rejected alone (`quarantine_invalid`), newest first.
    package let quarantineList = Verb(
        .get,
        "/api/v1/quarantine",
        taking: .query(QuarantineQuery(), [.text("poll", \.poll), .number("before", \.before), .limit(\.limit)])
    ) {
        QuarantineListing(entries: try await $0.quarantine.list($1))
    }
    /// Hides invalid items. One stays hidden as long as the server sends it with the same faults. Ignores other ids.
    package let quarantineDiscard = Verb(
        .post,
        "/api/v1/quarantine/discard",
        counts: .quarantineDiscard,
        taking: Self.selection,
        patience: ControlAPI.Patience.ofWrites
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

    package let identity = Verb(.get, "/api/v1/identity") {
        try await $0.identity.current()
    }
    /// Changes the active identity, or signs out.
    package let setIdentity = Verb(
        .put,
        "/api/v1/identity",
        counts: .identitySet,
        taking: RequestForm<IdentityChoice>.body(
            #"{"did": "did:…"} or {"did": null}"#,
            check: { _ = try $0.account() }
        ),
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.identity.set($1)
    }
    /// Switches a kind of poll off, or on again, for the active identity.
    package let chooseKind = Verb(
        .post,
        "/api/v1/identity/kinds",
        counts: .identityKinds,
        taking: RequestForm<KindChoice>.body(#"{"kind": "offers_to_me", "opted_out": true}"#),
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.stars.choose($1)
    }
    /// Schedules the deletion of an account that is not active. Signing in within 30 days keeps it, and announces
    /// later changes only.
    package let removeIdentity = Verb(
        .post,
        "/api/v1/identity/remove",
        counts: .identityRemove,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.identity.remove($1)
    }
    /// Deletes everything of an account that is not active, now and for good.
    package let eraseIdentity = Verb(
        .post,
        "/api/v1/identity/erase",
        counts: .identityErase,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWholeDatabase
    ) {
        try await $0.identity.erase($1)
    }

    private static let account = RequestForm<IdentityRemoval>.body(#"{"did": "did:…"}"#) { _ = try $0.account() }

    /// The starred plans of the active identity, with their known names.
    package let stars = Verb(.get, "/api/v1/stars") {
        try $0.checkAccountIsNamed()
        return try await $0.stars.listing()
    }
    /// Changes the stars and returns all of them.
    package let changeStars = Verb(
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
    package let archivedStars = Verb(.get, "/api/v1/stars/archived") { try await $0.stars.archived() }

    // MARK: - Many accounts

    /// The accounts, in a fixed order, page by page.
    package let accounts = Verb(
        .get,
        "/api/v1/accounts",
        taking: .query(AccountQuery(), [.limit(\.limit), .text("after", \.after), .flag("failing", \.failing)])
    ) {
        try await $0.ofMany().list($1)
    }
    /// Adds accounts, and changes the stars and addresses of those that exist. Says of each entry what it did or why not.
    package let addAccounts = Verb(
        .post,
        "/api/v1/accounts",
        counts: .accountsChange,
        taking: RequestForm<AccountAdditions>.body(#"{"accounts": [{"did": "did:…", "stars": ["…"]}]}"#) {
            for entry in $0.accounts { try entry.checkFields() }
        },
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.ofMany().add($1)
    }
    package let showAccount = Verb(.post, "/api/v1/accounts/show", taking: Self.account) {
        try await $0.ofMany().show(try $1.account())
    }
    /// Stops the work for an account. What is stored stays, and is delivered once the account is resumed.
    package let pauseAccount = Verb(
        .post,
        "/api/v1/accounts/pause",
        counts: .accountsChange,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.ofMany().pause($1)
    }
    package let resumeAccount = Verb(
        .post,
        "/api/v1/accounts/resume",
        counts: .accountsChange,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.ofMany().resume($1)
    }
    /// Stops serving an account, cancels what waits for delivery, and schedules the deletion of its data. Adding it within 30
    /// days keeps the data.
    package let removeAccount = Verb(
        .post,
        "/api/v1/accounts/remove",
        counts: .accountsChange,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.ofMany().remove($1)
    }
    /// Deletes everything of an account now and for good.
    package let eraseAccount = Verb(
        .post,
        "/api/v1/accounts/erase",
        counts: .accountsChange,
        taking: Self.account,
        patience: ControlAPI.Patience.ofWholeDatabase
    ) { topics, removal in
        try await topics.ofMany().stop(removal)
        let report = try await topics.identity.erase(removal)
        try topics.ofMany().noteErasure()
        return report
    }

    /// Hands out all that is stored of an account, for another agent, and stops serving it. Repeating it hands out the same.
    package let exportAccount = Verb(
        .post,
        "/api/v1/accounts/export",
        counts: .accountsChange,
        taking: AccountExport.form,
        onSocketOnly: "An account is exported",
        patience: ControlAPI.Patience.ofServer
    ) {
        try await $0.moves.export($1)
    }
    /// Stores what another agent handed out of an account, and serves it. Repeating it changes nothing.
    package let importAccount = Verb(
        .post,
        "/api/v1/accounts/import",
        counts: .accountsChange,
        taking: AccountImport.form,
        onSocketOnly: "An account is imported",
        patience: ControlAPI.Patience.ofServer
    ) {
        try await $0.moves.take($1)
    }

    // MARK: - Keys

    /// The keys of the database.
    package let keys = Verb(.get, "/api/v1/keys") { try await $0.keys.report() }
    /// Replaces the data keys. The values are then encrypted again in the background.
    package let rotateDataKeys = Verb(.post, "/api/v1/keys/rotate", counts: .keysRotate) {
        try await $0.keys.rotateDataKeys()
    }
    /// Opens every encrypted value.
    package let verifyKeys = Verb(.post, "/api/v1/keys/verify", patience: ControlAPI.Patience.ofWholeDatabase) {
        try await $0.keys.verify()
    }
    /// Wraps the data keys with another master key.
    package let changeMasterKey = Verb(
        .post,
        "/api/v1/keys/master",
        counts: .keysRotate,
        taking: RequestForm<MasterKeyChange>.body(#"{"key": "…"}"#),
        onSocketOnly: "The master key is changed",
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.keys.changeMasterKey($1)
    }
    /// Makes the key of a file the active one of the active identity.
    package let importSigningKey = Verb(
        .post,
        "/api/v1/keys/signing",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyImport>.body(#"{"key": "…"}, with "kid" for a name"#),
        onSocketOnly: "A signing key is imported",
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.signingKeys.importKey($1)
    }
    /// Makes a new shared secret the active one of the active identity.
    package let rotateSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/rotate",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRotation>.body(#"{"key": "…"}, with "emergency": true in an emergency"#),
        onSocketOnly: "The signing key is rotated",
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.signingKeys.rotate($1)
    }
    /// Destroys the secret of a signing key at once.
    package let revokeSigningKey = Verb(
        .post,
        "/api/v1/keys/signing/revoke",
        counts: .keysRotate,
        taking: RequestForm<SigningKeyRevocation>.body(#"{"kid": "…"}, with "force": true for the active key"#),
        patience: ControlAPI.Patience.ofWrites
    ) {
        try await $0.signingKeys.revoke($1)
    }

    // MARK: - Digests

    /// The configured digests, with past and future occurrences.
    package let digests = Verb(.get, "/api/v1/digests") { try await $0.digests.list() }
    /// Fetches a digest's content now. Takes 12 s at most.
    package let fetchDigest = Verb(
        .post,
        "/api/v1/digests/{name}/fetch",
        counts: .digestsFetch,
        taking: .text,
        patience: ControlAPI.Patience.ofServer
    ) {
        try await $0.digests.fetch($1)
    }
    /// Shows a digest's stored content now, after one attempt at every sink.
    package let showDigest = Verb(
        .post,
        "/api/v1/digests/{name}/show",
        counts: .digestsShow,
        taking: .text,
        patience: ControlAPI.Patience.ofServer
    ) {
        try await $0.digests.show($1)
    }

    // MARK: - Notifications

    /// The notifications that the sink of kind `feed` keeps, newest first.
    package let feed = Verb(.get, "/api/v1/notifications", taking: Self.notifications) {
        try await $0.notifications.feed($1)
    }
    /// The active identity's notifications, newest first.
    package let notificationList = Verb(
        .get,
        "/api/v1/notifications/sent",
        taking: .query(NotificationQuery(), [.limit(\.limit), .number("before", \.before), .text("change", \.change)])
    ) {
        try await $0.notifications.list($1)
    }

    /// Notes in the journal that a command has made or replaced the token in the feed's address. It changes nothing else.
    package let noteFeedToken = Verb(
        .post,
        "/api/v1/feed/token",
        counts: .feedToken,
        taking: RequestForm<FeedTokenChange>.body(#"{"operation": "rotate"}, with create or rotate"#) {
            try $0.check()
        },
        onSocketOnly: "A change of the feed's token is noted"
    ) { _, change in
        change
    }

    private static let notifications = RequestForm.query(
        NotificationQuery(),
        [.limit(\.limit), .number("before", \.before)]
    )

    package let notificationShow = Verb(.get, "/api/v1/notifications/{id}", taking: .text) {
        try await $0.notifications.show($1)
    }
    /// Performs the action that a person chose. Repeating it changes nothing.
    package let notificationAct = Verb(
        .post,
        "/api/v1/notifications/{id}/actions/{action}",
        counts: .notificationsAct,
        taking: ChosenAction.form,
        // A refresh waits for a cycle of the poll.
        patience: .seconds(900)
    ) {
        try await $0.notifications.act($1)
    }
    package let shortlinkShow = Verb(
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
    /// `ntf_…` or `run_…`. For a claim without a row, a project or a time, it says what covers it.
    package let explain = Verb(.get, "/api/v1/explain/{id}", taking: .text) {
        try await $0.stories.explain($1)
    }
    /// Lines of the stored log, in the order in which they were logged.
    package let logs = Verb(
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
    package let journal = Verb(
        .get,
        "/api/v1/journal",
        taking: .query(JournalQuery(), [.text("since", \.since), .limit(\.limit)])
    ) {
        try await $0.journal.list($1)
    }
}

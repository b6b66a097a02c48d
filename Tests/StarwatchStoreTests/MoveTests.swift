import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Accounts that move from one database to another.
@Suite struct MoveTests {
    /// The encryption of the source and of the destination, each with a master key of its own.
    enum Encryption: CaseIterable {
        case ofNone, ofSource, ofDestination, ofBoth

        var isOfSource: Bool { self == .ofSource || self == .ofBoth }
        var isOfDestination: Bool { self == .ofDestination || self == .ofBoth }
    }

    let source = World()
    let destination = World()

    /// A database with an account that has rows of every kind.
    func openSource(sealed: Bool = false) async throws -> Store {
        let store = try await source.open { $0.masterKey = sealed ? MasterKey() : nil }
        try await source.fill(store)
        let alice = World.alice
        if sealed {
            let key = SigningKey(
                kid: "one",
                algorithm: .hs256,
                secret: Array(repeating: 7, count: 32),
                createdAt: source.now
            )
            #expect(try await store.keys.addSigningKey(key, of: alice, grace: .normal) == .added)
            var draft = AccountDraft(did: alice)
            draft.sinks = ["log": SinkAddress(url: "https://sink.test/secret")]
            try await store.write(.edit) { [draft] db in _ = try db.accounts.setSinks(of: draft) }
        }
        try await source.commit(store, source.changes(10...13))
        try await source.deliverAll(store, id: "ntf_delivered")
        _ = try await store.acknowledgements.nextBatch(source.stream, limit: 2, now: source.now) { "key" }
        try await source.commit(store, source.changes(14...15))
        try await source.killAll(store)
        _ = try await store.notifications.act(.snooze, on: "ntf_fill", of: alice, sinks: ["log"], now: source.now)
        try await store.polls.setRequestWindow([1, 2, 3], of: alice, spentAt: source.now)
        try await source.commit(store, source.changes(16...17))
        try await store.write(.edit) { db in
            try db.stars.archive(of: alice, now: .init(seconds: 1))
            try db.execute(Self.furtherRows)
        }
        return store
    }

    /// Rows of the tables that the fixture would fill only by many more steps.
    private static let furtherRows = """
        INSERT INTO page_fetches (id, run_id, page, request_id, asked_at, answered_at, tries)
            VALUES (7, 'run', 1, 'other', 1, 2, 1), (8, 'run', 1, 'req', 1, 2, 1), (9, 'run', 2, 'req2', 3, 4, 1);
        UPDATE notification_outbox SET fetch_id = 8 WHERE id = 1;
        INSERT INTO delivery_attempts (notification_id, sink, number, started_at, finished_at, result)
            SELECT id, 'log', 1, 1, 2, 'timeout' FROM notifications;
        INSERT INTO notification_actions (notification_id, action, done_at)
            SELECT min(id), 'mark_read', 1 FROM notifications;
        INSERT INTO staleness_notices SELECT stream_id, max(id) FROM notifications GROUP BY stream_id;
        INSERT INTO former_states (row_id, notification_id, fetch_id, state, step, at)
            SELECT id, notification_id, 9, 'dead', 'retried', 1 FROM notification_outbox WHERE id = 2;
        INSERT INTO quarantine (stream_id, fingerprint, kind, issues, page, run_id, created_at, seen_at)
            SELECT min(id), 9007199254740993, 'invalid', '["x"]', 1, 'run', 1, 1 FROM streams;
        INSERT INTO history (stream_id, run_id, started_at, finished_at, outcome, new_rows)
            SELECT id, 'run', 1, 2, 'changed', 1 FROM streams;
        INSERT INTO watermark_moves SELECT stream_id, max(jwt_id), 1 FROM notification_outbox GROUP BY stream_id;
        INSERT INTO watermarks SELECT account, server, poll, NULL, 1 FROM streams;
        INSERT INTO feature_introductions VALUES ('f', 1), ('g', 1);
        INSERT INTO feature_notices SELECT accountDid, 'f', 'ntf_f', 1, NULL FROM settings;

        """

    /// A database that serves another account, so that its ids are others.
    func openDestination(sealed: Bool = false, isMany: Bool = true) async throws -> Store {
        var options = destination.options()
        options.masterKey = sealed ? MasterKey() : nil
        let store = try Store(options)
        try await store.write(.edit) { db in try db.execute("INSERT INTO feature_introductions VALUES ('f', 1)") }
        if isMany {
            let now = destination.now
            _ = try await store.accounts.add([AccountDraft(did: World.bob)], server: World.server, now: now) { _ in now
            }
            let stream = StreamKey(account: World.bob, server: World.server, poll: destination.stream.poll)
            try await destination.commit(store, destination.changes(0...4), stream: stream)
        }
        return store
    }

    func handOut(
        _ store: Store,
        _ account: DID? = World.alice,
        isTrial: Bool = false,
        now: Timestamp? = nil
    ) async throws -> AccountHandout {
        try await store.moves.handOut(account, isTrial: isTrial, now: now ?? source.now)
    }

    func text(_ handout: AccountHandout) throws -> String {
        guard case .text(let text, World.alice, _, _) = handout else { throw Unexpected(what: "\(handout)") }
        return text
    }

    private struct Unexpected: Error { let what: String }

    func take(
        _ store: Store,
        _ text: String,
        sinks: Set<String> = ["log"],
        server: String = World.server,
        isMany: Bool = true,
        isUndo: Bool = false,
        isTrial: Bool = false
    ) async throws -> AccountArrival {
        let bundle = try AccountBundle(text: text)
        return try await store.moves.take(
            bundle,
            of: bundle.account,
            into: AccountDestination(server: server, sinks: sinks, addressed: sinks, pseudonym: isMany ? "p" : nil),
            isUndo: isUndo,
            isTrial: isTrial,
            now: destination.now,
            dueAt: destination.now
        )
    }

    @Test func thePollsThatAnAccountWantsMoveWithIt() async throws {
        let store = try await source.open()
        var draft = AccountDraft(did: World.alice, stars: ["p"])
        draft.polls = [PollName("nightly")!]
        let now = source.now
        _ = try await store.accounts.add([draft], server: World.server, now: now) { _ in now }
        #expect(try await store.accounts.account(World.alice)?.polls == draft.polls)
        let target = try await openDestination()
        #expect(try await take(target, text(handOut(store))) == .arrived)
        #expect(try await target.accounts.account(World.alice)?.polls == draft.polls)
    }

    // MARK: - Tables

    /// The tables that stay, by the reason.
    private static let staying: [String: [String]] = [
        "Each agent says itself whom it serves.": [
            "active_identity", "accounts", "leases", "removed_accounts", "account_moves",
        ],
        "Digests are those of each agent, and fetched and planned anew.": [
            "notif_contents", "notif_deliveries", "digest_progress", "notif_config",
        ],
        "Values are sealed again with the keys of the destination.": ["sealing", "data_keys", "sealed_accounts"],
        "The server's dialect and waits are those of each agent.": ["servers"],
        "Sums, logs, runs and the journal are those of the process.": [
            "ledger_totals", "ledger_samples", "log_entries", "recent_runs", "journal",
        ],
        "It belongs to a receiver of the process.": ["event_queue"],
        "A host program's own data stays with it.": ["poll_schedules", "host_watermarks"],
        "It describes the database.": ["installation", "grdb_migrations", "feature_introductions"],
    ]

    /// A new table must be put on one of the two lists.
    @Test func everyTableMovesOrStaysForAReason() async throws {
        let store = try await openSource()
        await store.close()
        let tables = try await DatabaseQueue(path: source.path).read { db in
            try String.fetchAll(
                db,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
        }
        let moved = MovedTable.all.map(\.name)
        let staying = Self.staying.values.joined()
        #expect(tables == (moved + staying).sorted())
    }

    /// Numbers and accounts of the source mean nothing in the destination.
    @Test func everyIDAndAccountOfAMovedTableIsAdapted() async throws {
        let store = try await openSource()
        await store.close()
        try await DatabaseQueue(path: source.path).read { db in
            for table in MovedTable.all {
                let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(table.name))")
                let numbers: [String] = columns.filter { $0["type"] == "INTEGER" }.map { $0["name"] }
                #expect(numbers.contains("id") == table.isNumbered, "\(table.name)")
                let ids = Set(
                    numbers.filter { $0.hasSuffix("_id") } + columns.map { $0["name"] }.filter { $0 == "row_ids" }
                )
                #expect(ids == Set(table.references.keys), "\(table.name)")
                let accounts = SealedTable.accounts.filter { $0.table == table.name }.map(\.column)
                #expect(accounts == table.account.map { [$0] } ?? [], "\(table.name)")
            }
        }
    }

    // MARK: - Contents

    @Test(arguments: Encryption.allCases)
    func everythingOfAnAccountArrives(_ encryption: Encryption) async throws {
        let from = try await openSource(sealed: encryption.isOfSource)
        if encryption == .ofSource {
            #expect(try await from.keys.revokeSigningKey("one", isForced: true, now: source.now) == .revoked)
        }
        let to = try await openDestination(sealed: encryption.isOfDestination)
        let text = try text(try await handOut(from))
        #expect(try await take(to, text) == .arrived)

        let left = try AccountBundle(text: text)
        let arrived = try AccountBundle(text: try self.text(try await handOut(to, isTrial: true)))
        let (before, after) = (try Self.content(left), try Self.content(arrived))
        var kinds = Set(MovedTable.all.map(\.name))
        kinds.subtract(encryption.isOfSource ? ["shortlinks"] : ["signing_keys", MovedTable.addresses])
        #expect(kinds == Set(before.keys))
        // The fetches of other accounts stay.
        #expect(before["page_fetches"]?.count == 2)
        for table in before.keys.sorted()
        where table != (encryption.isOfDestination ? "shortlinks" : MovedTable.addresses) {
            #expect(after[table] == before[table], "\(table)")
        }
        if !encryption.isOfSource {
            let shortlink = try #require(Shortlink(Contents.shortlink))
            let found = try await to.notifications.shortlink(shortlink, of: World.alice, now: destination.now)
            #expect(found?.targets.isEmpty == false)
        }
        if encryption.isOfDestination { try await #expect(to.keys.verify().failed == 0) }
        try await destination.expectBalanced(to)
        #expect(try await to.accounts.account(World.alice)?.status == .active)
    }

    /// The rows of each table, with ids that count its rows.
    private static func content(_ bundle: AccountBundle) throws -> [String: [[String]]] {
        var numbers: [String: [SQLValue: Int]] = [:]
        var content: [String: [[String]]] = [:]
        for moved in MovedTable.all {
            guard let table = bundle.table(moved.name) else { continue }
            if moved.isNumbered {
                let ids = table.rows.map { table.value("id", of: $0) }
                numbers[moved.name] = Dictionary(uniqueKeysWithValues: zip(ids, 1...))
            }
            content[moved.name] = try table.rows.map { row in
                try zip(table.columns, row).map { column, value in
                    if column == "id", moved.isNumbered { return "" }
                    guard let target = moved.references[column] else { return "\(column) \(value)" }
                    let known = numbers[target] ?? [:]
                    guard case .text(let list) = value else { return "\(column) \(known[value] ?? 0)" }
                    let ids = try JSONDecoder().decode([Int64].self, from: Data(list.utf8))
                    return "\(column) \(ids.map { known[.integer($0)] ?? 0 })"
                }
            }
        }
        return content.mapValues { $0.sorted { $0.joined() < $1.joined() } }
    }

    @Test func encryptedDatabasesHoldNothingReadableOfAnAccountThatMoves() async throws {
        let from = try await openSource(sealed: true)
        let to = try await openDestination(sealed: true)
        let text = try text(try await handOut(from))
        #expect([Canary.name, Canary.plan, Canary.title, Canary.description, Canary.did].allSatisfy(text.contains))
        #expect(try await take(to, text, isTrial: true) == .arrived)
        #expect(try await take(to, text) == .arrived)
        try #expect(source.canaries() == [] && destination.canaries() == [])
        try await #expect(from.keys.verify().failed == 0)
    }

    @Test func whatWasHandedOutIsDecryptedOnlyByForce() async throws {
        let store = try await openSource(sealed: true)
        _ = try await handOut(store)
        try await store.write(.edit) { db in
            try db.execute("DELETE FROM signing_keys; DELETE FROM account_sinks")
        }
        await #expect(throws: StoreError.sealed(.exportedAccounts)) { try await store.keys.decrypt() }
        _ = try await store.keys.decrypt(isForced: true)
        let kept = try await store.direct(.read) { db in
            try db.integer("SELECT count(*) FROM account_moves WHERE bundle IS NOT NULL")
        }
        #expect(kept == 0)
    }

    // MARK: - Source

    /// The database keeps what it handed out for as long as the account is gone.
    @Test func theSecretOfARevokedKeyIsNotHandedOutAgain() async throws {
        let from = try await openSource(sealed: true)
        let secrets = [7, 9].map { [UInt8](repeating: $0, count: 32) }
        let key = SigningKey(kid: "two", algorithm: .hs256, secret: secrets[1], createdAt: source.now)
        #expect(try await from.keys.addSigningKey(key, of: World.alice, grace: .normal) == .added)
        func secretsHandedOut() async throws -> [Bool] {
            let text = try text(try await handOut(from))
            return secrets.map { text.contains(Data($0).base64EncodedString()) }
        }
        #expect(try await secretsHandedOut() == [true, true])
        #expect(try await from.keys.endSigningKeys(now: source.now + .days(8)) == 1)
        #expect(try await secretsHandedOut() == [false, true])
        #expect(try await from.keys.revokeSigningKey("two", isForced: true, now: source.now) == .revoked)
        #expect(try await secretsHandedOut() == [false, false])
        try await #expect(from.keys.verify().failed == 0)

        // Their names stay used.
        let to = try await openDestination(sealed: true)
        #expect(try await take(to, text(handOut(from))) == .arrived)
        #expect(try await to.keys.report().signingKeys.map(\.state) == [.revoked, .revoked])
    }

    @Test func theSourceStopsAndHandsOutTheSameAgain() async throws {
        let from = try await openSource()
        let generation = try await from.identity.active().generation
        let first = try text(try await handOut(from, nil))
        let active = try await from.identity.active()
        #expect(active.did == nil && active.generation > generation)
        #expect(try await from.outboxCounts()[.pending] == 0)
        #expect(
            try await from.deliveries.reclaim(
                of: World.alice,
                now: .init(seconds: 2_000_000_000),
                leaseUntil: .init(seconds: 2_000_000_001)
            ).isEmpty
        )
        try await source.expectBalanced(from)
        for account in [nil, World.alice] as [DID?] { #expect(try text(try await handOut(from, account)) == first) }
        // Neither a restart nor a mistake brings it back.
        let (now, since) = (source.now, source.now)
        #expect(try await from.identity.seedIfEmpty(World.alice, server: World.server, now: now).did == nil)
        let change = try await from.identity.set(World.alice, server: World.server, now: now)
        #expect(!change.changed && change.hasMovedSince == since)
        let added = try await from.accounts.add([AccountDraft(did: World.alice)], server: World.server, now: now) { _ in
            now
        }
        #expect(added == [.hasMoved(since: since)])
        #expect(try await from.accounts.remove(World.alice, now: now) == now)
        #expect(try await from.identity.eraseAccount(World.alice) == .erased(isPurged: true))
        #expect(try await from.identity.set(World.alice, server: World.server, now: now).changed)
    }

    @Test func aServedAccountMovesPausedAsItWas() async throws {
        let from = try await openSource()
        let now = source.now
        _ = try await from.accounts.add([AccountDraft(did: World.alice)], server: World.server, now: now) { _ in now }
        _ = try await from.accounts.set(.paused, of: World.alice, now: now)
        let text = try text(try await handOut(from))
        #expect(try await from.accounts.account(World.alice) == nil)
        let to = try await openDestination()
        #expect(try await take(to, text) == .arrived)
        #expect(try await to.accounts.account(World.alice)?.status == .paused)
    }

    /// That of the source means nothing to the receivers of the destination.
    @Test func anOpenDigestNamesTheAccountAsTheDestinationDoes() async throws {
        let (from, to) = (try await source.open(), try await openDestination())
        let daily = try #require(DigestName("daily"))
        let occurrence = DigestOccurrence(digest: daily, slot: "daily/slot-08-00", fireAt: source.now)
        var message = DigestMessage(
            id: "ntf_digest",
            runID: "run_1",
            occurrence: occurrence,
            text: .fallback,
            title: "t",
            body: "b",
            locale: "en"
        )
        message.account = "source"
        let text = ArmedText(text: .fallback, fingerprint: 1, title: "t", body: "b", payload: message.json())
        var changes = DigestChanges()
        changes.armed = [.init(occurrence: occurrence, token: message.id, text: text)]
        changes.fired = [.init(occurrence: occurrence, sinks: ["log"], runID: message.runID)]
        let generation = try await from.identity.active().generation
        _ = try await from.digests.apply(
            changes,
            of: World.alice,
            generation: generation,
            server: World.server,
            now: source.now
        )
        let handout = try self.text(try await handOut(from))
        #expect(try await take(to, handout) == .arrived)
        message.account = "p"
        let open = try await destination.reclaim(to, at: destination.now, until: destination.now + .days(1))
        #expect(open.map(\.outgoing.payload) == [message.json()])
    }

    @Test func aNotificationOnItsWayIsWaitedFor() async throws {
        let from = try await source.open()
        try await source.commit(from, source.changes(1...2))
        let notification = try #require(try await source.claim(from))
        #expect(from.deliveries.beginAttempt(for: World.alice, at: .zero) == .given)
        // However long the sink takes.
        guard case .delivering = try await handOut(from, now: source.now + .days(1)) else {
            throw Unexpected(what: "of a notification that a sink has")
        }
        #expect(from.deliveries.beginAttempt(for: World.alice, at: .zero) == .leaving)
        #expect(try await from.identity.active().did == World.alice)
        // Nothing more is claimed meanwhile, so that the wait ends under load too.
        try await source.commit(from, source.changes(3...4))
        #expect(try await source.claim(from, id: "ntf_2") == nil)
        #expect(try await source.reclaim(from, at: source.now + .days(1), until: source.now + .days(2)).isEmpty)
        from.moves.stay(World.alice)
        #expect(try await source.claim(from, id: "ntf_2")?.outgoing.count == 2)
        _ = try await from.deliveries.record(notification.tickets[0], .ok, now: source.now, maxRetries: 3)
        from.deliveries.endAttempt(for: World.alice)
        _ = try text(try await handOut(from))
        // Work that does not know yet that the account has left.
        #expect(from.deliveries.beginAttempt(for: World.alice, at: .zero) == .leaving)
    }

    @Test func aTrialChangesNothing() async throws {
        let from = try await openSource()
        let to = try await openDestination()
        let before = try await from.outboxCounts()
        let text = try text(try await handOut(from, isTrial: true))
        #expect(try await take(to, text, isTrial: true) == .arrived)
        #expect(try await from.identity.active().did == World.alice)
        #expect(try await from.outboxCounts() == before)
        #expect(try await to.accounts.account(World.alice) == nil)
        let settings = try await to.stars.list(of: World.alice)
        #expect(settings == [])
        guard case .unknown = try await handOut(to) else { throw Unexpected(what: "of a trial") }
    }

    // MARK: - Destination

    @Test func importingTwiceDoublesNothing() async throws {
        let from = try await openSource()
        let to = try await openDestination()
        let text = try text(try await handOut(from))
        #expect(try await take(to, text) == .arrived)
        let rows = try await to.outbox.list(OutboxFilter()).count
        try await destination.commit(to, destination.changes(50...51))
        #expect(try await take(to, text) == .known)
        #expect(try await to.outbox.list(OutboxFilter()).count == rows + 2)
    }

    @Test func anOlderFileIsRefusedAfterTheAccountMovedOn() async throws {
        let from = try await openSource()
        let to = try await openDestination()
        let first = try text(try await handOut(from))
        #expect(try await take(to, first) == .arrived)
        try await destination.commit(to, destination.changes(50...51))
        let second = try text(try await handOut(to))
        #expect(try await take(to, first) == .refused([.outdated]))
        #expect(try await take(from, second, isMany: false) == .arrived)
        #expect(try await from.identity.active().did == World.alice)
        #expect(try await from.outbox.list(OutboxFilter()).contains { $0.change.id == destination.id(51) })
        #expect(try await take(from, first, isMany: false) == .refused([.outdated]))
        #expect(try await take(from, second, isMany: false) == .known)
        try await source.expectBalanced(from)
    }

    /// An operator who changes their mind imports the file where it came from. While another agent serves the account, both
    /// would announce each change.
    @Test func aMoveIsUndoneOnlyByAnOperatorWhoSaysSo() async throws {
        let from = try await openSource()
        let before = try await from.outboxCounts()
        let text = try text(try await handOut(from))
        for isTrial in [true, false] {
            let refused = try await take(from, text, isMany: false, isTrial: isTrial)
            #expect(refused == .refused([.handedOut(at: source.now)]))
        }
        #expect(try await from.identity.active().did == nil)
        #expect(try await take(from, text, isMany: false, isUndo: true) == .arrived)
        #expect(try await from.identity.active().did == World.alice)
        #expect(try await from.outboxCounts() == before)
    }

    @Test func whatCannotMoveIsNamedAndChangesNothing() async throws {
        let from = try await openSource(sealed: true)
        let text = try text(try await handOut(from, isTrial: true))
        let many = try await openDestination()
        #expect(
            try await take(many, text, sinks: ["other"], server: "https://other.example")
                == .refused([.server(World.server), .sinks(["log"]), .needsEncryption])
        )
        _ = try await add(World.alice, to: many)
        #expect(try await take(many, text) == .refused([.served]))
        await many.close()
        let one = try await destination.open { $0.masterKey = nil }
        _ = try await one.identity.set(World.bob, server: World.server, now: destination.now)
        #expect(try await take(one, text, isMany: false).isRefused(for: .otherIdentity))
        #expect(try await one.identity.active().did == World.bob)
    }

    private func add(_ account: DID, to store: Store) async throws -> [AccountAddition] {
        let now = destination.now
        return try await store.accounts.add([AccountDraft(did: account)], server: World.server, now: now) { _ in now }
    }
}

extension AccountArrival {
    fileprivate func isRefused(for problem: MoveProblem) -> Bool {
        guard case .refused(let problems) = self else { return false }
        return problems.contains(problem)
    }
}

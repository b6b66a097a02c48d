package import StarwatchCore
import Synchronization

/// The accounts that the agent serves beside the active identity.
///
/// An operator's change needs no lease. It raises the account's generation, so that a cycle in flight writes nothing.
package struct StoreAccounts: Sendable {
    let store: Store

    /// Serves accounts, in one transaction. Repeating it changes nothing.
    ///
    /// An account that was served or signed in before begins anew, as when its identity signs in, with its stars. The
    /// active identity keeps its polls and signs out. A mark of removal is lost.
    ///
    /// - Parameters:
    ///   - server: The server of all of them, in the form of ``StreamKey/server``.
    ///   - dueAt: Returns the time of the first visit, of a new account and of a changed one.
    /// - Returns: The result of each draft, in their order.
    package func add(
        _ drafts: [AccountDraft],
        server: String,
        now: Timestamp,
        dueAt: @Sendable (DID) -> Timestamp
    ) async throws(StoreError) -> [AccountAddition] {
        try await store.write(.identity) { db in
            try drafts.map { try db.accounts.add($0, server: server, now: now, dueAt: dueAt($0.did)) }
        }
    }

    /// The next accounts in a stable order, which is not that of the DIDs in an encrypted database.
    ///
    /// Leaves out accounts whose DID does not open.
    ///
    /// - Parameter last: The last account of the former page; `nil` for the first page.
    /// - Returns: Fewer than `limit` only at the end.
    package func list(after last: DID?, limit: Int) async throws(StoreError) -> [StoredAccount] {
        try await store.direct(.read) { db in try db.accounts.list(after: last, limit: limit) }
    }

    /// An account; `nil` if it is not served.
    package func account(_ did: DID) async throws(StoreError) -> StoredAccount? {
        try await store.direct(.read) { db in try db.accounts.account(did) }
    }

    /// Those of `accounts` that are served.
    package func served(among accounts: [DID]) async throws(StoreError) -> Set<DID> {
        try await store.direct(.read) { db in Set(try accounts.filter { try db.accounts.status(of: $0) != nil }) }
    }

    /// Pauses or resumes an account. A resumed one is due now.
    ///
    /// - Returns: The account; `nil` if it is not served.
    package func set(
        _ status: AccountStatus,
        of did: DID,
        now: Timestamp
    ) async throws(StoreError) -> StoredAccount? {
        try await store.write(.identity, of: did, hasLease: false) { db in
            if let former = try db.accounts.status(of: did), former != status {
                try db.run("UPDATE accounts SET status = ? WHERE account = ?", [status.rawValue, db.key(did)])
                // A paused account is in the way of no claim.
                try db.accounts.changed(did, dueAt: status == .active ? now : .never, now: now)
            }
            return try db.accounts.account(did)
        }
    }

    /// Ends the service of an account as when an identity signs out, and marks it for deletion after
    /// ``RetentionPolicy/removed``.
    ///
    /// - Returns: The date of the mark; `nil` if the account is neither served nor marked, and has not moved.
    package func remove(_ did: DID, now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await store.write(.identity, of: did, hasLease: false) { db in
            if try db.accounts.status(of: did) != nil {
                _ = try db.identity.close(account: did, now: now)
                try db.accounts.leave(did)
                return try db.identity.markRemoved(did, now: now)
            }
            if try db.moves.goneSince(did) != nil { return try db.identity.markRemoved(did, now: now) }
            return try db.identity.removedAt(did)
        }
    }

    /// Makes an active account due now, after an operator's change. One that is leased is due when it is released.
    package func makeDue(_ did: DID, now: Timestamp) async throws(StoreError) {
        try await store.write(.identity, of: did, hasLease: false) { db in
            guard try db.accounts.status(of: did) == .active else { return }
            try db.accounts.changed(did, dueAt: now, now: now)
        }
    }

    /// The time when the next active account is due, or the lease of one ends; `nil` without active accounts.
    ///
    /// - Parameter work: The work that can be done.
    package func nextDue(_ work: VisitWork = .all) async throws(StoreError) -> Timestamp? {
        try await store.direct(.read) { db in
            try db.value(
                """
                SELECT l.due_at FROM leases l
                WHERE EXISTS (SELECT 1 FROM accounts a WHERE a.account = l.account AND \(AccountRows.can(work)))
                ORDER BY l.due_at LIMIT 1
                """
            )
        }
    }

    /// - Parameters:
    ///   - work: The work that can be done; accounts without such work are not due.
    ///   - staleBefore: The time since which an account must have succeeded, or been added.
    ///   - addressed: The sinks that need an address of the account, if all do; none if another sink reaches every account.
    package func counts(
        _ work: VisitWork = .all,
        now: Timestamp,
        staleBefore: Timestamp = Timestamp(milliseconds: 0),
        addressed: [String] = []
    ) async throws(StoreError) -> AccountCounts {
        try await store.direct(.read) { db in
            let isDue = "l.due_at <= ?1 AND \(AccountRows.can(work))"
            let row = try db.row(
                """
                SELECT count(CASE WHEN a.status = 'active' THEN 1 END) AS active,
                    count(CASE WHEN a.status = 'paused' THEN 1 END) AS paused,
                    count(CASE WHEN l.owner IS NOT NULL AND l.due_at > ?1 THEN 1 END) AS leased,
                    count(CASE WHEN \(isDue) THEN 1 END) AS due, min(CASE WHEN \(isDue) THEN l.due_at END) AS oldest,
                    count(CASE WHEN a.status = 'active' AND coalesce(l.last_success, a.added_at) < ?2 THEN 1 END) AS stale
                FROM accounts a JOIN leases l ON l.account = a.account
                """,
                [now.milliseconds, staleBefore.milliseconds]
            )
            let unreachable: Int =
                try addressed.isEmpty
                ? 0
                : db.integer(
                    """
                    SELECT count(*) FROM accounts a WHERE a.status = 'active' AND NOT EXISTS (
                        SELECT 1 FROM account_sinks k WHERE k.account = a.account AND k.gone_at IS NULL
                            AND k.sink IN (SELECT value FROM json_each(?)))
                    """,
                    [jsonArray(addressed)]
                )
            let preferences: [(text: String, accounts: Int)] = try db.all(
                """
                SELECT s.notificationPreferences AS preferences, count(*) AS count
                FROM accounts a JOIN settings s ON s.accountDid = a.account
                WHERE a.status = 'active' AND s.notificationPreferences <> '{}' GROUP BY 1
                """
            ) { (text: try $0["preferences"], accounts: try $0["count"]) }
            guard let row else { throw StoreError.damaged }
            return AccountCounts(
                active: try row["active"],
                paused: try row["paused"],
                leased: try row["leased"],
                due: try row["due"],
                stale: try row["stale"],
                unreachable: unreachable,
                preferences: Dictionary(preferences.map { ($0.text, $0.accounts) }) { $0 + $1 },
                oldestDue: try row["oldest"]
            )
        }
    }
}

/// The leases of accounts.
extension StoreAccounts {
    /// Claims active accounts that are due and not leased, or whose lease has ended, the oldest due first.
    ///
    /// Reads what visits without changes need, so that they read nothing else. Frees the deliveries that the owner of an ended
    /// lease had taken. Until the release, writes for these accounts through this store are refused with
    /// ``StoreError/leaseLost`` if another owner has claimed them.
    ///
    /// - Parameters:
    ///   - work: The work that can be done. Accounts without such work are not claimed, and stay due.
    ///   - owner: A name that no other process has, nor an earlier start of this one.
    ///   - until: The end of the leases, which ``renew(until:for:)`` moves.
    ///   - term: The time for which the caller uses them.
    ///   - maxUndelivered: The limit on the pending and claimed rows of each account.
    ///   - ends: The leases to end first, as with ``release(_:)``, in the same transaction.
    /// - Returns: The leases, and those of `ends` that were lost.
    package func claim(
        _ work: VisitWork = .all,
        limit: Int,
        owner: String,
        now: Timestamp,
        until: Timestamp,
        for term: LeaseTerm,
        maxUndelivered: Int = .max,
        after ends: [LeaseEnd] = []
    ) async throws(StoreError) -> (leases: [AccountLease], lost: [AccountLease]) {
        try await store.perform { store throws(StoreError) in
            let (claims, lost) = try Self.release(ends, in: store) { db in
                try db.accounts.claim(
                    work,
                    limit: limit,
                    owner: owner,
                    now: now,
                    until: until,
                    maxUndelivered: maxUndelivered
                )
            }
            for claim in claims {
                store.memory.accounts.change(claim.lease.account) {
                    $0.begin(claim, for: term, maxUndelivered: maxUndelivered)
                }
            }
            let leases = claims.map(\.lease)
            if leases.contains(where: { !$0.wasReleased }) { store.memory.snapshot.withLock { $0 = nil } }
            return (leases, lost)
        }
    }

    /// Makes accounts due that would rest for a reason of an earlier run: beyond `latest`, because its clock was ahead, or with
    /// notifications that a sink holds, because the sinks can have had other hours.
    package func settleDue(latest: Timestamp, now: Timestamp) async throws(StoreError) {
        try await store.write(.lease) { db in
            try db.run(
                "UPDATE leases SET due_at = ? WHERE due_at > ? AND due_at < ?",
                [now.milliseconds, latest.milliseconds, Timestamp.never.milliseconds]
            )
            try db.run(
                """
                UPDATE leases SET due_at = ?1 WHERE owner IS NULL AND due_at > ?1 AND due_at < ?2 AND account IN (
                    SELECT s.account FROM notifications n CROSS JOIN deliveries d ON d.notification_id = n.id
                    CROSS JOIN streams s ON s.id = n.stream_id
                    WHERE n.state = 'open' AND d.state = 'pending' AND \(DeliveryRows.isHeld))
                """,
                [now.milliseconds, Timestamp.never.milliseconds]
            )
        }
    }

    /// Moves the times of all accounts and leases with a clock that was set.
    package func moveDue(by step: Duration) async throws(StoreError) {
        try await store.write(.lease) { db in
            try db.run(
                "UPDATE leases SET due_at = due_at + ? WHERE due_at < ?",
                [step.wholeMilliseconds, Timestamp.never.milliseconds]
            )
        }
    }

    /// Moves the ends of all leases that were claimed here and not released. Those that were claimed after the reading of `until`
    /// and `term` end later already: a renewal can wait for the store.
    ///
    /// - Returns: Those that were lost.
    package func renew(until: Timestamp, for term: LeaseTerm) async throws(StoreError) -> [AccountLease] {
        try await store.perform { store throws(StoreError) in
            // The same order in every process, so that a simulated run can be replayed.
            let leases = store.memory.accounts.leases(toRenewFor: term)
                .sorted { $0.account.rawValue < $1.account.rawValue }
            guard !leases.isEmpty else { return [] }
            let lost = try store.write(.lease) { db in
                try leases.filter { try !db.accounts.renew($0, until: until) }
            }
            for lease in Set(leases).subtracting(lost) {
                store.memory.accounts.change(lease.account) { $0.renew(lease, for: term) }
            }
            return lost
        }
    }

    /// Whether a lease is held here, so that requests can be sent by it.
    package func holds(_ lease: AccountLease, at boottime: Duration) -> Bool {
        store.memory.accounts.look(at: lease.account) { $0.lease == lease && $0.canAsk(at: boottime) }
    }

    /// Whether a request can be sent for an account: not if its lease was claimed here and can have been lost since.
    ///
    /// A write finds that out by itself. A request that is counted already, or an answer that comes late, does not write first.
    package func canAsk(for account: DID, at boottime: Duration) -> Bool {
        store.memory.accounts.look(at: account) { $0.canAsk(at: boottime) }
    }

    /// Forgets what is known of an account that rests, unless it is leased: the release then forgets it.
    package func rest(_ account: DID) { store.memory.accounts.rest([account]) }

    /// Ends leases after their visits, in one transaction, and the accounts' share of the store's memory.
    ///
    /// - Returns: The leases that were lost. Nothing was written for them.
    package func release(_ ends: [LeaseEnd]) async throws(StoreError) -> [AccountLease] {
        try await store.perform { store throws(StoreError) in try Self.release(ends, in: store) { _ in }.lost }
    }

    /// Ends leases, stores the late writes, and does more work, in one transaction.
    private static func release<Answer: Sendable>(
        _ ends: [LeaseEnd],
        in store: isolated Store,
        then work: @Sendable (Session) throws -> Answer
    ) throws(StoreError) -> (answer: Answer, lost: [AccountLease]) {
        let ended = Set(ends.map(\.lease.account))
        // Also if it fails: the leases then end by themselves.
        for end in ends { store.memory.accounts.change(end.lease.account) { $0.end(end.lease) } }
        // Before the access, which would store them in a transaction of their own.
        var late = store.memory.accounts.takeLate()
        defer { store.memory.accounts.rest(ended) }
        do throws(StoreError) {
            let result = try store.write(.lease) { [late] db in
                let lost = try ends.filter { try !db.accounts.release($0) }.map(\.lease)
                let accounts = Set(lost.map(\.account))
                try db.streams.store(late, held: ended.subtracting(accounts), lost: accounts)
                return (answer: try work(db), lost: lost)
            }
            if !late.isEmpty { store.memory.snapshot.withLock { $0 = nil } }
            return result
        } catch {
            // The next claim of these accounts knows that their visits were interrupted.
            late.remove(ended)
            store.memory.accounts.putBack(late)
            throw error
        }
    }
}

extension Timestamp {
    /// The time of an account that is not due: the end of the year 9999.
    static let never = Timestamp(seconds: 253_402_300_799)
}

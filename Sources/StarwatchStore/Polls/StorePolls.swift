package import StarwatchCore

/// The state of polls and the ends of their cycles.
package struct StorePolls: Sendable {
    let store: Store

    /// The state that a cycle needs, in one cheap read.
    ///
    /// - Parameter maxUndelivered: The limit on the account's pending and claimed rows.
    package func state(_ stream: StreamKey, maxUndelivered: Int) async throws(StoreError) -> PollState {
        try await store.perform { store throws(StoreError) in
            let state = try store.direct(.pollState, of: stream) { db, id in
                try db.streams.state(of: stream, id, maxUndelivered: maxUndelivered)
            }
            // A host application can change its database without our knowledge.
            if store.options.owner == .agent {
                store.memory.accounts.change(stream.account) {
                    $0.remember(state, of: stream, maxUndelivered: maxUndelivered)
                }
            }
            return state
        }
    }

    /// The result of ``state(_:maxUndelivered:)`` from memory, without waiting for the store's queue.
    ///
    /// The times of the last cycle can be out of date.
    ///
    /// - Returns: `nil` if the state was not read since the last write.
    package func rememberedState(_ stream: StreamKey, maxUndelivered: Int) -> PollState? {
        store.memory.accounts.look(at: stream.account) { $0.state(of: stream, maxUndelivered: maxUndelivered) }
    }

    /// The result of ``state(_:maxUndelivered:)`` from memory with its times.
    ///
    /// - Returns: `nil` unless a claim has read the state, and no cycle of the account has ended since.
    package func claimedState(_ stream: StreamKey, maxUndelivered: Int) -> PollState? {
        store.memory.accounts.look(at: stream.account) { memory in
            guard memory.claimed?.areTimesKnown == true else { return nil }
            return memory.state(of: stream, maxUndelivered: maxUndelivered)
        }
    }

    /// Ends a stream's bootstrap. Later changes are new.
    ///
    /// Sets the fetch cursor, and the watermark by compare-and-swap from none. This is the only change of a watermark
    /// without an acknowledgement. The rows of the overlap are committed first, through ``StoreOutbox/commit(page:)`` with
    /// `.bootstrap`.
    ///
    /// Unlike other transactions it survives a power loss. A stream that lost its start would bootstrap again and
    /// silently skip the changes in between.
    ///
    /// - Parameters:
    ///   - interests: The account's interests at the beginning of the bootstrap; `nil` skips the check.
    ///   - top: The largest identifier found; `nil` if there was none.
    ///   - cycle: What is known of the cycle, so that a kill before its own end loses nothing that the poll has seen.
    /// - Returns: `false` if the identity, its interests or the server's dialect changed since `generation` was read.
    ///   Then nothing was written.
    package func finishBootstrap(
        _ stream: StreamKey,
        generation: Int,
        interests: Interests? = nil,
        top: JWTID?,
        cycle: CycleRecord? = nil,
        now: Timestamp
    ) async throws(StoreError) -> Bool {
        try await store.perform { store throws(StoreError) in
            let isFinished = try store.write(.bootstrap, of: stream) { db, id in
                guard try db.identity.isCurrent(stream.account, generation: generation),
                    try db.streams.understands(top?.kind, of: id), try db.stars.isWanted(stream, interests)
                else { return false }
                try db.streams.finishBootstrap(of: stream, id, top: top, now)
                if let cycle { try db.streams.finish(cycle, of: id) }
                return true
            }
            // The log is only safe from a power loss after it has moved into the database.
            if isFinished { _ = try StoreStatus.emptyLog(of: store) }
            return isFinished
        }
    }

    /// The ends of the stored cycles that found new changes, the oldest first.
    package func changeTimes(of stream: StreamKey, since time: Timestamp) async throws(StoreError) -> [Timestamp] {
        let times: [Int64] = try await store.direct(.read, of: stream) { db, id in
            try db.values(
                "SELECT finished_at FROM history WHERE stream_id = ? AND new_rows > 0 AND finished_at >= ? ORDER BY finished_at",
                [id, time.milliseconds]
            )
        }
        return times.map { Timestamp(milliseconds: $0) }
    }

    /// Stores the result of a cycle. Only cycles that changed something or failed enter the history.
    package func finishCycle(_ cycle: CycleRecord) async throws(StoreError) {
        try await store.perform { store throws(StoreError) in try Self.finish(cycle, in: store) }
    }

    fileprivate static func finish(_ cycle: CycleRecord, in store: isolated Store) throws(StoreError) {
        store.memory.accounts.change(cycle.stream.account) { $0.forgetTimes() }
        guard let outcome = cycle.outcome, outcome != .unchanged || cycle.refusedPages != nil else {
            return try store.direct(.finishCycle, of: cycle.stream) { db, id in try db.streams.finish(cycle, of: id) }
        }
        defer { if cycle.refusedPages != nil { store.memory.accounts.forgetStates(of: cycle.stream.account) } }
        try store.write(.finishCycle, of: cycle.stream) { db, id in
            try db.streams.finish(cycle, of: id)
            guard outcome != .unchanged else { return }
            if cycle.newRows > 0 {
                try db.run("UPDATE streams SET last_new = ? WHERE id = ?", [cycle.finishedAt.milliseconds, id])
            }
            try db.run(
                """
                INSERT INTO history (stream_id, run_id, started_at, finished_at, outcome, new_rows, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id, cycle.runID, (cycle.startedAt ?? cycle.finishedAt).milliseconds,
                    cycle.finishedAt.milliseconds, outcome.rawValue, cycle.newRows, cycle.reason?.description,
                ]
            )
        }
    }

    /// The longest time for which a late write is not stored.
    private static let longestDelay = Duration.seconds(1)

    /// Notes the end of a cycle without changes, without making the caller wait.
    ///
    /// It is stored together with others: with the next access of any kind, at the end, and at most a second late. A crash
    /// before that loses the times of the cycle.
    package func recordUnchanged(_ cycle: CycleRecord) {
        if store.memory.accounts.write(later: cycle) { storeLater() }
    }

    /// Has the late writes stored, of which there were none.
    func storeLater() {
        store.executor.run(after: Self.longestDelay) { [weak store] in
            store?.assumeIsolated { $0.memory.accounts.storeLate(in: $0) }
        }
    }
}

extension AccountMemories {
    /// Stores the late writes. Failures go to ``StoreObserver/missedCycle(_:)``.
    func storeLate(in store: isolated Store) {
        let late = takeLate()
        guard !late.isEmpty else { return }
        do throws(StoreError) {
            if leases.isEmpty, late.windows.isEmpty, late.cycles.count == 1, let cycle = late.cycles.values.first {
                return try StorePolls.finish(cycle, in: store)
            }
            try store.write(.finishCycle) { db in try db.streams.store(late) }
        } catch {
            // The next access tries again.
            putBack(late)
            store.options.observer?.missedCycle(error)
        }
    }
}

/// The streams of polls and the request windows of their accounts, in one access.
struct StreamRows {
    let db: Session

    /// The row id of a stream. Creates the stream and its ledger at first use.
    func id(of stream: StreamKey) throws -> Int64 {
        if let known = try knownID(of: stream) { return known }
        try db.dataKeys.enrol(stream.account)
        let id = try db.inserted(
            "INSERT INTO streams (account, server, poll) VALUES (?, ?, ?) RETURNING id",
            [db.key(stream.account), stream.server, stream.poll.rawValue]
        )
        try db.run("INSERT INTO ledger (stream_id) VALUES (?)", [id])
        return id
    }

    /// The stream in the columns `account`, `server` and `poll`.
    func stream(_ row: SQLRow) throws -> StreamKey {
        StreamKey(account: try db.account(row["account"]), server: try row["server"], poll: try row["poll"])
    }

    /// The streams `s` of an account that have rows.
    ///
    /// - Parameter rows: A table and the condition of its rows.
    func list(of account: DID, with rows: String) throws -> [StreamKey] {
        try db.all(
            "SELECT account, server, poll FROM streams s WHERE account = ? AND EXISTS (SELECT 1 FROM \(rows)) ORDER BY id",
            [db.key(account)]
        ) { try stream($0) }
    }

    /// The row id of a stream; `nil` if it is not stored.
    func knownID(of stream: StreamKey) throws -> Int64? {
        try db.value(
            "SELECT id FROM streams WHERE account = ? AND server = ? AND poll = ?",
            [db.key(stream.account), stream.server, stream.poll.rawValue]
        )
    }

    /// The stored form of a stream's account.
    func owner(of stream: Int64) throws -> String? {
        try db.value("SELECT account FROM streams WHERE id = ?", [stream])
    }

    /// The rows that the overlap fetches again, up to a fixed number.
    func known(of stream: Int64, at cursor: JWTID?) throws -> [JWTID] {
        guard let cursor else { return [] }
        return try db.values(
            """
            SELECT jwt_id FROM notification_outbox WHERE stream_id = ?1 AND jwt_id >= ?2
                AND (substr(jwt_id, 11, 1) = '_') = (substr(?2, 11, 1) = '_') AND NOT (\(Schema.isOpenAgain))
            ORDER BY jwt_id DESC LIMIT \(Self.mostKnown)
            """,
            [stream, Self.oldest(cursor).rawValue]
        )
    }

    static let mostKnown = 200

    /// The oldest id that the largest overlap of any dialect fetches again.
    static func oldest(_ cursor: JWTID) -> JWTID { JWTID.floor(cursor.kind, at: cursor.timestamp - .seconds(60)) }

    /// Ends the bootstrap of a stream, with everything up to `top` done.
    func finishBootstrap(of stream: StreamKey, _ id: Int64, top: JWTID?, _ now: Timestamp) throws {
        try db.run(
            """
            UPDATE streams SET bootstrapped_at = coalesce(bootstrapped_at, ?1), walk_top = NULL,
                walk_before = NULL, walk_after = NULL,
                fetch_cursor = CASE WHEN fetch_cursor IS NULL OR fetch_cursor < ?2 THEN ?2 ELSE fetch_cursor END
            WHERE id = ?3
            """,
            [now.milliseconds, top?.rawValue, id]
        )
        if let top { _ = try db.acknowledgements.swap(stream, expected: nil, new: top, now) }
    }

    /// Makes streams bootstrap again. A list is then fetched as if nothing were known of it, but what was seen stays known.
    ///
    /// - Parameter condition: A fixed text, because the statement is cached.
    func restart(_ condition: String, _ arguments: SQLArguments) throws {
        try db.run(
            """
            UPDATE streams SET fetch_cursor = NULL, bootstrapped_at = NULL, walk_top = NULL, walk_before = NULL,
                walk_after = NULL, seen_until = NULL WHERE \(condition)
            """,
            arguments
        )
        try db.run(
            "UPDATE list_states SET state = NULL WHERE stream_id IN (SELECT id FROM streams WHERE \(condition))",
            arguments
        )
    }

    /// Stores late writes, except for accounts whose lease is lost: another owner continues with them.
    ///
    /// - Parameters:
    ///   - held: Accounts whose leases have just been found to be held.
    ///   - lost: Accounts whose leases have just been found to be lost.
    func store(_ late: LateWrites, held: Set<DID> = [], lost: Set<DID> = []) throws {
        var (known, lost) = (held, lost)
        func isHeld(_ account: DID) throws -> Bool {
            if known.contains(account) { return true }
            if lost.contains(account) { return false }
            guard try db.accounts.hasLease(of: account) else {
                lost.insert(account)
                return false
            }
            known.insert(account)
            return true
        }
        for (stream, cycle) in late.cycles where try isHeld(stream.account) {
            try finish(cycle, of: db.context.accounts.look(at: stream.account, { $0.id(of: stream) }) ?? id(of: stream))
        }
        for (account, window) in late.windows where try isHeld(account) {
            try setWindow(window.bytes, of: account, spentAt: window.spentAt, isKnown: true)
        }
    }

    func finish(_ cycle: CycleRecord, of id: Int64) throws {
        try db.run(
            """
            UPDATE streams SET last_attempt = coalesce(?1, last_attempt), last_success = coalesce(?2, last_success),
                last_outcome = coalesce(?3, last_outcome), next_run = coalesce(?4, next_run),
                refused_pages = coalesce(?5, refused_pages), seen_until = coalesce(?6, seen_until)
            WHERE id = ?7
            """,
            [
                cycle.startedAt?.milliseconds, cycle.successAt?.milliseconds, cycle.outcome?.rawValue,
                cycle.nextRun?.milliseconds, cycle.refusedPages, cycle.seenUntil?.milliseconds, id,
            ]
        )
    }
}

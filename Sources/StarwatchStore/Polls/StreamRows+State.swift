import StarwatchCore

extension StreamRows {
    private static let columns = """
        s.fetch_cursor, s.bootstrapped_at, s.walk_top, s.walk_before, s.walk_after, s.last_attempt, s.last_success, s.next_run,
        w.watermark, s.refused_pages, s.seen_until,
        (SELECT min(o.jwt_id) FROM notification_outbox o WHERE o.state = 'evicted' AND o.stream_id = s.id) AS tombstone
        """
    private static let watermarks =
        "LEFT JOIN watermarks w ON w.account = s.account AND w.server = s.server AND w.poll = s.poll"

    /// The state of a stream that a cycle needs.
    func state(of stream: StreamKey, _ id: Int64, maxUndelivered: Int) throws -> PollState {
        let row = try db.row(
            """
            SELECT (SELECT i.generation FROM identities i WHERE i.account = s.account) AS generation, \(Self.columns)
            FROM streams s \(Self.watermarks) WHERE s.id = ?
            """,
            [id]
        )
        guard let row else { throw StoreError.damaged }
        var state = try PollState(
            row,
            generation: row["generation"],
            open: db.outbox.openCount(of: stream.account),
            maxUndelivered: maxUndelivered
        )
        state.known = Set(try known(of: id, at: state.knownFrom))
        return state
    }

    /// The states of the streams of accounts, for their visits.
    ///
    /// One statement for all: each costs as much as ten rows.
    ///
    /// - Parameter accounts: The accounts by their stored forms, with the numbers of their pending and claimed rows.
    func states(
        of accounts: [String: (did: DID, generation: Int, open: Int)],
        maxUndelivered: Int
    ) throws -> [KnownStream] {
        let found: [KnownStream] = try db.all(
            """
            SELECT s.id, s.account, s.server, s.poll, \(Self.columns)
            FROM json_each(?) j JOIN streams s ON s.account = j.value \(Self.watermarks)
            """,
            [jsonArray(Array(accounts.keys))]
        ) { row in
            let id: Int64 = try row["id"]
            guard let account = accounts[try row["account"]] else { throw StoreError.damaged }
            let stream = StreamKey(account: account.did, server: try row["server"], poll: try row["poll"])
            let state = try PollState(
                row,
                generation: account.generation,
                open: account.open,
                maxUndelivered: maxUndelivered
            )
            return (stream, id, state)
        }
        let known = try known(of: found)
        return found.map { stream in
            var stream = stream
            stream.state.known = Set(known[stream.id] ?? [])
            return stream
        }
    }

    /// The rows of streams that the overlap fetches again, as ``known(of:at:)`` returns those of one.
    private func known(of found: [KnownStream]) throws -> [Int64: [JWTID]] {
        // The oldest id, which has 26 characters, and then the stream's.
        let starts = found.compactMap { stream in
            stream.state.knownFrom.map { Self.oldest($0).rawValue + "\(stream.id)" }
        }
        guard !starts.isEmpty else { return [:] }
        let rows = try db.rows(
            """
            SELECT o.stream_id, o.jwt_id FROM json_each(?) j JOIN notification_outbox o
                ON o.stream_id = CAST(substr(j.value, 27) AS INTEGER) AND o.jwt_id >= substr(j.value, 1, 26)
            WHERE (substr(o.jwt_id, 11, 1) = '_') = (substr(j.value, 11, 1) = '_')
                AND NOT (\(Schema.isOpenAgain(of: "o")))
            ORDER BY o.stream_id, o.jwt_id DESC
            """,
            [jsonArray(starts)]
        )
        var known: [Int64: [JWTID]] = [:]
        while let row = try rows.next() {
            let stream: Int64 = try row["stream_id"]
            if known[stream, default: []].count < Self.mostKnown {
                known[stream, default: []].append(try row["jwt_id"])
            }
        }
        return known
    }
}

extension PollState {
    /// Reads ``StreamRows/columns``, without the rows that it knows.
    ///
    /// - Parameter open: The number of pending and claimed rows of the account.
    fileprivate init(_ row: SQLRow, generation: Int?, open: Int, maxUndelivered: Int) throws {
        fetchCursor = try row["fetch_cursor"]
        bootstrapped = try row["bootstrapped_at"] as Timestamp? != nil
        let (top, before, after): (JWTID?, JWTID?, JWTID?) = (
            try row["walk_top"], try row["walk_before"], try row["walk_after"]
        )
        walk = top.flatMap { top in before.map { OpenWalk(top: top, before: $0, after: after) } }
        (lastAttempt, lastSuccess, nextRun) = (try row["last_attempt"], try row["last_success"], try row["next_run"])
        watermark = try row["watermark"]
        refusedPages = try row["refused_pages"]
        seenUntil = try row["seen_until"]
        hasTombstones = try row["tombstone"] as JWTID? != nil
        (self.generation, isActive) = (generation ?? 0, generation != nil)
        (openRows, room) = (open, max(0, maxUndelivered - open))
    }

    /// The cursor whose overlap is known; `nil` while there are tombstones.
    fileprivate var knownFrom: JWTID? { hasTombstones ? nil : fetchCursor }
}

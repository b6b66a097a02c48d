import StarwatchCore

extension StreamRows {
    /// A stream with its row and its state.
    typealias Known = (key: StreamKey, id: Int64, state: PollState)

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
        let found = FoundState(
            id: id,
            stream: stream,
            generation: try row["generation"],
            open: try db.outbox.openCount(of: stream.account),
            row: try StoredState(row)
        )
        return found.state(known: try known(of: id, at: found.row.knownFrom), maxUndelivered: maxUndelivered)
    }

    /// The states of the streams of accounts, for their visits.
    ///
    /// One statement for all: each costs as much as ten rows.
    func states(of accounts: [String: StreamOwner], maxUndelivered: Int) throws -> [Known] {
        let found = try db.all(
            """
            SELECT s.id, s.account, s.server, s.poll, \(Self.columns)
            FROM json_each(?) j JOIN streams s ON s.account = j.value \(Self.watermarks)
            """,
            [jsonArray(Array(accounts.keys))]
        ) { row -> FoundState in
            let id: Int64 = try row["id"]
            guard let account = accounts[try row["account"]] else { throw StoreError.damaged }
            return FoundState(
                id: id,
                stream: StreamKey(account: account.did, server: try row["server"], poll: try row["poll"]),
                generation: account.generation,
                open: account.open,
                row: try StoredState(row)
            )
        }
        let known = try known(of: found)
        return found.map {
            ($0.stream, $0.id, $0.state(known: known[$0.id] ?? [], maxUndelivered: maxUndelivered))
        }
    }

    /// The rows of streams that the overlap fetches again, as ``known(of:at:)`` returns those of one.
    private func known(of found: [FoundState]) throws -> [Int64: [JWTID]] {
        // The oldest id, which has 26 characters, and then the stream's.
        let starts = found.compactMap { state in
            state.row.knownFrom.map { Self.oldest($0).rawValue + "\(state.id)" }
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

/// An account whose streams are read for its visit.
struct StreamOwner {
    let did: DID
    let generation: Int
    /// The number of its pending and claimed rows.
    let open: Int
}

/// The columns of a poll's state.
private struct StoredState {
    let cursor: JWTID?
    let isBootstrapped: Bool
    let walk: OpenWalk?
    let lastAttempt, lastSuccess, nextRun: Timestamp?
    let watermark: JWTID?
    let refusedPages: Int
    let seenUntil: Timestamp?
    let hasTombstones: Bool

    init(_ row: SQLRow) throws {
        cursor = try row["fetch_cursor"]
        isBootstrapped = try row["bootstrapped_at"] as Timestamp? != nil
        let (top, before, after): (JWTID?, JWTID?, JWTID?) = (
            try row["walk_top"], try row["walk_before"], try row["walk_after"]
        )
        walk = top.flatMap { top in before.map { OpenWalk(top: top, before: $0, after: after) } }
        (lastAttempt, lastSuccess, nextRun) = (try row["last_attempt"], try row["last_success"], try row["next_run"])
        watermark = try row["watermark"]
        refusedPages = try row["refused_pages"]
        seenUntil = try row["seen_until"]
        hasTombstones = try row["tombstone"] as JWTID? != nil
    }

    /// The cursor whose overlap is known; `nil` while there are tombstones.
    var knownFrom: JWTID? { hasTombstones ? nil : cursor }
}

/// A poll's state without the rows that it knows.
private struct FoundState {
    let id: Int64
    let stream: StreamKey
    let generation: Int?
    let open: Int
    let row: StoredState

    func state(known: [JWTID], maxUndelivered: Int) -> PollState {
        PollState(
            generation: generation ?? 0,
            isActive: generation != nil,
            fetchCursor: row.cursor,
            bootstrapped: row.isBootstrapped,
            walk: row.walk,
            watermark: row.watermark,
            lastAttempt: row.lastAttempt,
            lastSuccess: row.lastSuccess,
            nextRun: row.nextRun,
            seenUntil: row.seenUntil,
            refusedPages: row.refusedPages,
            openRows: open,
            room: max(0, maxUndelivered - open),
            hasTombstones: row.hasTombstones,
            known: Set(known)
        )
    }
}

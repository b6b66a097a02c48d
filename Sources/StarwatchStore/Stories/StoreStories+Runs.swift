import FoundationEssentials
package import StarwatchCore

extension StoreStories {
    /// The number of runs that are kept of each poll.
    package static let keptRuns = 256

    /// Stores the last runs of an agent that ends, in one transaction. Of each poll the newest stay.
    package func keep(_ runs: [RecentRun]) async throws(StoreError) {
        guard !runs.isEmpty else { return }
        try await store.write(.log) { db in
            for run in runs {
                let json = try JSONEncoder().encode(run)
                try db.run(
                    """
                    INSERT INTO recent_runs (run_id, poll, finished_at, run) VALUES (?, ?, ?, ?)
                    ON CONFLICT (run_id) DO UPDATE SET poll = excluded.poll, finished_at = excluded.finished_at,
                        run = excluded.run
                    """,
                    [run.runID, run.poll, run.finishedAt, String(decoding: json, as: UTF8.self)]
                )
            }
            for poll in Set(runs.map(\.poll)).sorted() {
                try db.run(
                    """
                    DELETE FROM recent_runs WHERE poll = ?1 AND finished_at <
                        (SELECT finished_at FROM recent_runs WHERE poll = ?1 ORDER BY finished_at DESC LIMIT 1 OFFSET ?2)
                    """,
                    [poll, Self.keptRuns - 1]
                )
            }
        }
    }

    /// A stored run; `nil` if there is none.
    package func storedRun(_ id: String) async throws(StoreError) -> RecentRun? {
        let json: String? = try await store.direct(.read) { db in
            try db.value("SELECT run FROM recent_runs WHERE run_id = ?", [id])
        }
        return json.flatMap(RecentRun.init(json:))
    }

    /// The last stored run of a poll that ended by a time; `nil` if there is none.
    package func lastStoredRun(of poll: PollName, by time: Timestamp) async throws(StoreError) -> RecentRun? {
        let json: String? = try await store.direct(.read) { db in
            try db.value(
                "SELECT run FROM recent_runs WHERE poll = ? AND finished_at <= ? ORDER BY finished_at DESC LIMIT 1",
                [poll.rawValue, time.milliseconds]
            )
        }
        return json.flatMap(RecentRun.init(json:))
    }

    /// The end of a stream's first run, by the server's clock; `nil` before it.
    package func startOfPoll(_ stream: StreamKey) async throws(StoreError) -> Timestamp? {
        try await store.direct(.read, of: stream) { db, id in
            try db.value("SELECT bootstrapped_at FROM streams WHERE id = ?", [id])
        }
    }

    /// Whether a row with this id was stored once.
    package func hadRow(_ id: Int64) async throws(StoreError) -> Bool {
        try await store.direct(.read) { db in
            let last: Int64 = try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'notification_outbox'") ?? 0
            return (1...max(last, 1)).contains(id) && last > 0
        }
    }

    /// The last cycle of a stream that ended by a time, and changed something or failed; `nil` if there is none.
    package func lastCycle(of stream: StreamKey, by time: Timestamp) async throws(StoreError) -> RecentRun? {
        try await store.direct(.read, of: stream) { db, id in
            try db.row(
                """
                SELECT run_id, started_at, finished_at, outcome, new_rows, reason FROM history
                WHERE stream_id = ? AND finished_at <= ? ORDER BY finished_at DESC, id DESC LIMIT 1
                """,
                [id, time.milliseconds]
            ).map { try RecentRun(try $0["run_id"], of: stream.poll, $0) }
        }
    }
}

extension RecentRun {
    fileprivate init?(json: String) {
        guard let run = try? JSONDecoder().decode(RecentRun.self, from: Data(json.utf8)) else { return nil }
        self = run
    }

    /// Reads a row of `history`.
    init(_ id: String, of poll: PollName, _ row: SQLRow) throws {
        let outcome: PollOutcome = try row["outcome"]
        self.init(
            runID: id,
            poll: poll,
            startedAt: try row["started_at"],
            finishedAt: try row["finished_at"],
            outcome: outcome.rawValue
        )
        (reason, new) = (try row["reason"], try row["new_rows"])
    }
}

import FoundationEssentials
import StarwatchCore
import StarwatchStore

/// Finds the last runs of polls: those of this process, and those that an earlier one stored at its end.
struct RunFinder: Sendable {
    let polls: PollService
    let store: Store

    /// The run with this id; `nil` if it is unknown, or too long ago.
    func run(_ id: String) async throws(StoreError) -> RecentRun? {
        let own = polls.recentRuns().filter { $0.runID == id }.max { $0.finishedAt < $1.finishedAt }
        if let own { return own }
        return try await store.stories.storedRun(id).flatMap(RecentRun.init(json:))
    }

    /// The last run of a poll that had begun by a time of the local clock; `nil` if none is known.
    func last(of stream: StreamKey, by time: Timestamp) async throws(StoreError) -> RecentRun? {
        let own = polls.recentRuns(of: stream.poll).filter { $0.startedAt <= time.milliseconds }
        let stored = try await store.stories.lastStoredRun(of: stream.poll, by: time).flatMap(RecentRun.init(json:))
        let cycle = try await store.stories.lastCycle(of: stream, by: time).map { RecentRun($0, of: stream.poll) }
        return (own + [stored, cycle].compactMap(\.self)).max { left, right in
            // Of the same run the one that knows the server's answer.
            (left.finishedAt, left.requests) < (right.finishedAt, right.requests)
        }
    }

    /// Stores the runs of this process, for the next one.
    func keep() async throws(StoreError) {
        try await store.stories.keep(polls.recentRuns().compactMap(\.stored))
    }
}

extension RecentRun {
    fileprivate init?(json: String) {
        guard let run = try? JSONDecoder().decode(RecentRun.self, from: Data(json.utf8)) else { return nil }
        self = run
    }

    fileprivate init(_ cycle: HistoryEntry, of poll: PollName) {
        self.init(
            runID: cycle.runID,
            poll: poll,
            startedAt: cycle.startedAt,
            finishedAt: cycle.finishedAt,
            outcome: cycle.outcome.rawValue
        )
        (reason, new) = (cycle.reason, cycle.newRows)
    }

    fileprivate var stored: StoredRun? {
        guard let json = try? JSONEncoder().encode(self) else { return nil }
        return StoredRun(
            id: runID,
            poll: poll,
            finishedAt: Timestamp(milliseconds: finishedAt),
            json: String(decoding: json, as: UTF8.self)
        )
    }
}

import StarwatchCore
import StarwatchStore
import StarwatchTelemetry

extension PollCycle {
    /// Stores the next run after a skipped one, so that the next start does not take the skipped runs for missed ones.
    ///
    /// - Parameter former: The stored next run.
    func recordSkip(of stream: StreamKey?, plannedBefore former: Timestamp?) {
        guard let stream, let nextRun, nextRun != former else { return }
        var record = CycleRecord(stream: stream, runID: runID, startedAt: nil, finishedAt: time.now, outcome: nil)
        record.nextRun = nextRun
        store.recordUnchanged(record)
    }

    /// Stores a page in its own span.
    func store(_ commit: PageCommit) async throws(StoreError) -> PageCommitResult {
        try await Trace.span(.commit) { span throws(StoreError) in
            guard let span else { return try await store.commit(page: commit) }
            span.set(.poll, poll.name)
            span.set(.runID, run: runID)
            span.set(.count, commit.changes.count)
            do throws(StoreError) {
                let result = try await store.commit(page: commit)
                if case .committed(let counts) = result { span.set(.new, counts.inserted) }
                return result
            } catch {
                span.fail(error.kind)
                throw error
            }
        }
    }
}

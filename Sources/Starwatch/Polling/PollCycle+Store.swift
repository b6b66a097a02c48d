import StarwatchStore
import StarwatchTelemetry

extension PollCycle {
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

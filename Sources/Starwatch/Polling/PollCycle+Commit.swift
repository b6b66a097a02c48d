import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension PollCycle {
    /// The commit of a page; `nil` when there is nothing to store.
    func draft(
        _ page: Page,
        _ plan: PageWalk.Plan,
        _ stream: StreamKey,
        _ state: PollState,
        _ position: Position
    ) -> PageCommit? {
        metrics.polls.pages[poll.label].increment()
        // An unchanged poll writes nothing: every row is known, there is no walk to end, and the cursor stays.
        if page.rejected == 0, plan.walk == nil, !position.isWalkStored,
            state.knows(page.changes, upTo: plan.cursor)
        {
            return nil
        }
        let isBootstrap = position.isBootstrap
        var commit = PageCommit(
            stream: stream,
            expectedGeneration: state.generation,
            runID: runID,
            changes: plan.changes,
            room: position.room,
            now: clock.now
        )
        commit.rejectedCount = page.rejected
        commit.refused = page.refused
        commit.passed = plan.passed
        commit.overlapping = poll.overlapping
        commit.priority = poll.options.priority
        commit.cursor = isBootstrap ? .unchanged : plan.cursor
        commit.walk = isBootstrap ? .keep : plan.walk.map { .save($0) } ?? .clear
        commit.interrupted = plan.interrupted
        commit.disposition = isBootstrap ? .bootstrap : .announce
        return commit
    }

    /// Stores a page.
    ///
    /// - Parameter startedAt: The start of the walk, by the server's clock.
    func commit(
        _ draft: PageCommit,
        interests: Interests?,
        _ walk: inout PageWalk,
        startedAt: Timestamp,
        _ position: Position
    ) async throws(Stop) -> PageCommitCounts {
        var commit = draft
        commit.expectedInterests = interests
        commit.number = walk.pages
        // A resumed walk has not seen its first pages since, so it does not say which rows are gone from them.
        if walk.isComplete, !walk.wasResumed, !position.isBootstrap, let top = walk.top {
            commit.completed = .init(after: walk.lowerEnd, through: top, startedAt: startedAt)
        }
        if position.isBootstrap, let top = walk.settled {
            let floor = walk.dialect.bootstrapFloor(below: top)
            commit.seenOnly = commit.changes.filter { $0.id.precedes(floor) == true }
            commit.changes.removeAll { $0.id.precedes(floor) == true }
        }
        let outcome: PageCommitResult
        do throws(StoreError) { outcome = try await store(commit) } catch { throw .store(error) }
        guard case .committed(let counts) = outcome else { throw .staleIdentity }
        report(counts.quarantined, page: walk.pages)
        if counts.inserted > 0, !position.isBootstrap {
            metrics.polls.changesFound[poll.label].increment(by: UInt64(counts.inserted))
        }
        if counts.unseen > 0 { metrics.polls.superseded[poll.label].increment(by: UInt64(counts.unseen)) }
        if counts.outOfRoom {
            walk.stop()
            note(.pollOutOfRoom, [.changeCount: .number(counts.inserted)])
        }
        return counts
    }

    /// Logs the items that were quarantined for the first time, by their first issue. A page can have thousands.
    private func report(_ refused: [RefusedItem], page: Int) {
        for item in refused.prefix(10) {
            guard let issue = item.issues.first else { continue }
            note(
                .pollItemQuarantined,
                [
                    .kind: "\(item.violation.rawValue)", .page: .number(page), .path: "\(issue.path)",
                    .problem: "\(issue.problem.rawValue)",
                ]
            )
        }
    }
}

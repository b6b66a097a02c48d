import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension PollService {
    /// The result of a visit for one poll.
    struct PollVisit {
        /// The next scheduled run, with the splay; `nil` if the schedule never fires again, or nobody is served.
        var next: Timestamp?
        /// The time of a retry outside the schedule.
        var retryAt: Timestamp?
        /// The result of the cycle; `nil` if none was due.
        var result: PollCycle.Result?
    }

    /// Runs a poll's cycle if it is due, for an account that has no loop of its own.
    ///
    /// - Parameter retryAt: The time of a retry that an earlier visit planned.
    func visit(_ poll: Poll, retryAt: Timestamp?) async throws(StoreError) -> PollVisit {
        guard let state = try await storedState(of: poll) else { return PollVisit() }
        let now = environment.time.now
        let decision = SchedulerDecision.decide(
            schedule: poll.schedule,
            nextRun: state.nextRun,
            lastRun: state.lastAttempt.map { min($0, now) },
            now: now,
            catchUp: poll.options.catchUp,
            splay: poll.splay
        )
        count(decision.outcomes, of: poll)
        switch decision {
        case .run(_, let planned, _, let next):
            environment.metrics.polls.scheduleDelay[poll.label].observe(max(now - planned - poll.splay, .zero))
            return await cycle(of: poll, next: next)
        case .sleep(_, let planned):
            let retries = retryAt.map { $0 <= now } ?? false
            guard !retries, try await !isNew(poll, state) else { return await cycle(of: poll, next: planned) }
            await keep(planned, of: poll, insteadOf: state)
            return PollVisit(next: planned + poll.splay, retryAt: retryAt)
        case .skip(_, let next):
            await keep(next, of: poll, insteadOf: state)
            return PollVisit(next: next.map { $0 + poll.splay }, retryAt: retryAt)
        case .coalesce, .idle: return PollVisit(retryAt: retryAt)
        }
    }

    private func cycle(of poll: Poll, next: Timestamp?) async -> PollVisit {
        let result = await pass(poll, runID: RandomID.runID(), nextRun: next)
        return PollVisit(
            next: next.map { $0 + poll.splay },
            retryAt: await again(poll, after: result),
            result: result
        )
    }

    /// Stores a planned run, which the next visit finds.
    private func keep(_ next: Timestamp?, of poll: Poll, insteadOf state: PollState) async {
        guard let next, next != state.nextRun,
            let did = try? await shared.account.identity.current().identity.did
        else { return }
        var record = CycleRecord(
            stream: shared.account.stream(poll.name, of: did),
            runID: RandomID.runID(),
            startedAt: nil,
            finishedAt: environment.time.now,
            outcome: nil
        )
        record.nextRun = next
        shared.store.polls.recordUnchanged(record)
    }
}

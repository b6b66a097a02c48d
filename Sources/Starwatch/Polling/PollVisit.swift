import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The work for one poll of an account that has no loop of its own.
struct PollVisit {
    struct Result {
        /// The next scheduled run, with the splay; `nil` if the schedule never fires again, or nobody is served.
        var next: Timestamp?
        /// The time of a retry outside the schedule.
        var retryAt: Timestamp?
        /// The result of the cycle; `nil` if none was due.
        var cycle: PollCycle.Result?
    }

    let poll: Poll
    let service: PollService

    /// Runs the poll's cycle if it is due.
    ///
    /// - Parameter retryAt: The time of a retry that an earlier visit planned.
    func run(retryAt: Timestamp?) async throws(StoreError) -> Result {
        guard let state = try await service.storedState(of: poll) else { return Result() }
        let now = service.environment.time.now
        let decision = SchedulerDecision.decide(
            schedule: poll.schedule,
            nextRun: state.nextRun,
            lastRun: state.lastAttempt.map { min($0, now) },
            now: now,
            catchUp: poll.options.catchUp,
            splay: poll.splay
        )
        service.count(decision.outcomes, of: poll)
        switch decision {
        case .run(_, let planned, _, let next):
            let delay = max(now - planned - poll.splay, .zero)
            service.environment.metrics.polls.scheduleDelay[poll.label].observe(delay)
            return await cycle(next: next)
        case .sleep(_, let planned):
            let retries = retryAt.map { $0 <= now } ?? false
            guard !retries, try await !service.isNew(poll, state) else { return await cycle(next: planned) }
            await keep(planned, insteadOf: state)
            return Result(next: planned + poll.splay, retryAt: retryAt)
        case .skip(_, let next):
            await keep(next, insteadOf: state)
            return Result(next: next.map { $0 + poll.splay }, retryAt: retryAt)
        case .coalesce, .idle: return Result(retryAt: retryAt)
        }
    }

    private func cycle(next: Timestamp?) async -> Result {
        let result = await service.pass(poll, runID: RandomID.runID(), nextRun: next)
        return Result(
            next: next.map { $0 + poll.splay },
            retryAt: await service.again(poll, after: result),
            cycle: result
        )
    }

    /// Stores a planned run, which the next visit finds.
    private func keep(_ next: Timestamp?, insteadOf state: PollState) async {
        let account = service.shared.account
        guard let next, next != state.nextRun, let did = try? await account.identity.current().identity.did else {
            return
        }
        var record = CycleRecord(
            stream: account.stream(poll.name, of: did),
            runID: RandomID.runID(),
            startedAt: nil,
            finishedAt: service.environment.time.now,
            outcome: nil
        )
        record.nextRun = next
        service.shared.store.polls.recordUnchanged(record)
    }
}

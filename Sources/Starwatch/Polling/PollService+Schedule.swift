import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

extension PollService {
    /// Follows the poll's schedule until the task is cancelled.
    func follow(_ poll: Poll) async {
        let work = FollowedPoll(poll: poll, service: self, times: await restore(poll))
        await work.follow(on: environment.time)
    }

    /// Restores the times that an earlier run stored. It waits for the database: without its times, a run that fell due
    /// before the start would be skipped.
    private func restore(_ poll: Poll) async -> ScheduleTimes {
        let none = ScheduleTimes(nextRun: nil, lastRun: nil, isRunning: false)
        var read: PollState?
        var failures = 0
        while !Task.isCancelled {
            progress.mark(.poll(poll.name), at: environment.time.monotonic)
            do throws(StoreError) {
                read = try await storedState(of: poll)
                break
            } catch {
                failures += 1
                environment.logger.log(
                    .pollStoreFailed,
                    [.poll: "\(poll.name.rawValue)", .error: "\(error.description)"]
                )
                let wait = ExtraRun.afterStoreFailures(failures)
                try? await environment.time.sleep(for: min(wait, ClockLook.interval))
            }
        }
        guard let stored = read else { return none }
        let metrics = environment.metrics.polls
        let now = environment.time.now
        let lastAttempt = stored.lastAttempt.map { min($0, now) }
        metrics.lastAttempt[poll.label].set(lastAttempt?.seconds ?? 0)
        metrics.lastSuccess[poll.label].set(stored.lastSuccess.map { min($0, now).seconds } ?? 0)
        // An interval starts when the agent starts, so the first run is immediate.
        if case .every = poll.schedule {
            let missed = SchedulerDecision.missedBeforeStart(
                of: poll.schedule,
                nextRun: stored.nextRun,
                now: environment.time.now,
                catchUp: poll.options.catchUp,
                splay: poll.splay
            )
            count([.missed: missed], of: poll)
            return none
        }
        return ScheduleTimes(nextRun: stored.nextRun, lastRun: lastAttempt, isRunning: false)
    }

    /// Counts the outcomes of runs, and logs those that nothing started.
    func count(_ outcomes: [ScheduleOutcome: Int], of poll: Poll) {
        for (outcome, count) in outcomes {
            environment.metrics.polls.scheduleRuns[poll.label, outcome].increment(by: UInt64(count))
        }
        guard let missed = outcomes[.missed], missed > 0 else { return }
        environment.logger.log(.pollRunsMissed, [.poll: "\(poll.name.rawValue)", .count: .number(missed)])
    }

    func storedState(of poll: Poll) async throws(StoreError) -> PollState? {
        let account = shared.account
        guard let did = try await account.identity.current().identity.did else { return nil }
        let (stream, limit) = (account.stream(poll.name, of: did), shared.outbox.maxUndelivered)
        if let state = shared.store.polls.claimedState(stream, maxUndelivered: limit) { return state }
        return try await shared.store.polls.state(stream, maxUndelivered: limit)
    }

    /// Returns whether the poll has to find its starting point, and can. Until then it would take every change for one that
    /// was there before, or announce none, so it does not wait for its schedule.
    ///
    /// - Parameter state: The stored state, if it is known.
    func isNew(_ poll: Poll, _ state: PollState? = nil) async throws(StoreError) -> Bool {
        guard poll.options.bootstrap != .beginning else { return false }
        guard try await shared.account.identity.current().expects(poll.options) else { return false }
        var known = state
        if known == nil { known = try await storedState(of: poll) }
        guard let state = known else { return false }
        return poll.options.bootstrap == .latest ? !state.bootstrapped : state.lastSuccess == nil && !state.bootstrapped
    }

    /// Returns the time of an extra run outside the schedule, after a cycle with `result`.
    func again(_ poll: Poll, after result: PollCycle.Result) async -> Timestamp? {
        let now = environment.time.now
        let gate = shared.account.gate
        let (storeFailures, tokenFailures) = state.withLock { $0.countFailures(of: poll.name, after: result) }
        if let tokenFailures { return now + Backoff.token.delay(afterFailures: tokenFailures) }
        if let resumeAt = result.resumeAt { return resumeAt }
        if let storeFailures { return now + ExtraRun.afterStoreFailures(storeFailures) }
        if result.isOutOfRoom { return now + ExtraRun.whileOutOfRoom }
        switch (result.skip, result.failure) {
        // The wait can have ended meanwhile.
        case (.throttled, _): return await gate.hold(now: now)?.until ?? now
        // A cycle of another poll is trying the server. Its end is unknown.
        case (.circuitOpen, _): return await gate.circuit.nextTry ?? now + ExtraRun.afterAnothers
        case (.overlap, _), (_, .cancelled): return now + ExtraRun.afterAnothers
        case (.backpressure, _): return now + ExtraRun.whileOutOfRoom
        case (_, .network): return now + ExtraRun.afterNetworkFailure
        case (_, .timeout), (_, .serverError), (_, .unavailable): return now + ExtraRun.afterServerFailure
        default: return nil
        }
    }
}

extension PollService.State {
    /// Counts the consecutive cycles of a poll that failed in the database, and those that got no token.
    ///
    /// - Returns: The counts with this cycle; `nil` if it did not fail in that way.
    fileprivate mutating func countFailures(
        of poll: PollName,
        after result: PollCycle.Result
    ) -> (store: Int?, token: Int?) {
        if result.lacksToken {
            tokenFailures[poll, default: 0] += 1
            return (nil, tokenFailures[poll])
        }
        guard result.skip == nil else { return (nil, nil) }
        tokenFailures[poll] = nil
        storeFailures[poll] = result.isStoreFailure ? storeFailures[poll, default: 0] + 1 : nil
        return (storeFailures[poll], nil)
    }
}

private final class FollowedPoll: ScheduledWork {
    private let poll: Poll
    private let service: PollService
    private let state: Mutex<ScheduleTimes>

    init(poll: Poll, service: PollService, times: ScheduleTimes) {
        self.poll = poll
        self.service = service
        state = Mutex(times)
    }

    var schedule: Schedule { poll.schedule }
    var catchUp: CatchUp { poll.options.catchUp }
    var splay: Duration { poll.splay }

    private var metrics: PollMetrics { service.environment.metrics.polls }

    func times() -> ScheduleTimes {
        var times = state.withLock { $0 }
        times.isRunning = service.state.withLock { $0.running[poll.name] != nil }
        return times
    }

    func startsNow() async -> Bool {
        guard service.state.withLock({ $0.starting.remove(poll.name) }) != nil else { return false }
        do throws(StoreError) { return try await service.isNew(poll) } catch {
            // The next look at the schedule tries again.
            service.state.withLock { _ = $0.starting.insert(poll.name) }
            return false
        }
    }

    func sleep(for duration: Duration, on time: any TimeSource) async {
        guard let start = service.starts[poll.name] else { return }
        await start.wait(for: duration, on: time)
    }

    func plan(_ next: Timestamp?) async { setNext(next) }

    func run(planned: Timestamp?, next: Timestamp?) async -> Timestamp? {
        let now = service.environment.time.now
        state.withLock { $0.lastRun = now }
        if let planned {
            metrics.scheduleDelay[poll.label].observe(max(now - planned - poll.splay, .zero))
            setNext(next)
        }
        let result = await service.pass(poll, runID: RandomID.runID(), nextRun: next)
        return await service.again(poll, after: result.skip == .overlap ? await service.join(poll) : result)
    }

    func join() async -> Timestamp? { await service.again(poll, after: await service.join(poll)) }

    func count(_ outcomes: [ScheduleOutcome: Int]) { service.count(outcomes, of: poll) }

    func lookedAt() { service.progress.mark(.poll(poll.name), at: service.environment.time.monotonic) }

    private func setNext(_ next: Timestamp?) {
        let times = state.withLock { state in
            state.nextRun = next
            return state
        }
        guard let next else { return }
        metrics.nextRun[poll.label].set((next + poll.splay).seconds)
        let time = service.environment.time
        let planned = PlannedRun(times: times, at: time.now, boottime: time.boottime)
        service.state.withLock { $0.planned[poll.name] = planned }
    }
}

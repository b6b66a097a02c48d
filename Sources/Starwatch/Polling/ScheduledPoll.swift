import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// A poll of an account at work, which runs by its schedule.
///
/// A turn decides by the times of the runs: those that the database has from earlier ones, then those of this visit.
final class ScheduledPoll: ScheduledWork {
    private struct State {
        var times: ScheduleTimes = (nil, nil, false)
        /// The next run that the database has.
        var stored: Timestamp?
        var isRestored = false
        /// The number of failures in a row to read the stored times.
        var failures = 0
        /// The time of a run outside the schedule.
        var extra: Timestamp?
        /// The last cycles of this visit.
        var asked = CycleTimes()
    }

    let poll: Poll
    private let service: PollService
    private let track: PollService.Track
    /// Whether the visit lasts as long as the process, so that an interval begins with it.
    private let isLasting: Bool
    private let state: Mutex<State>

    /// - Parameter extra: The time of a run outside the schedule that an earlier visit planned.
    init(_ poll: Poll, of service: PollService, isLasting: Bool, extra: Timestamp?) {
        (self.poll, self.service, track, self.isLasting) = (poll, service, service.track(poll), isLasting)
        state = Mutex(State(extra: extra))
    }

    var schedule: Schedule { poll.schedule }
    var catchUp: CatchUp { poll.options.catchUp }
    var splay: Duration { poll.splay }

    private var metrics: PollMetrics { service.environment.metrics.polls }
    private var time: any TimeSource { service.environment.time }

    var asked: CycleTimes { state.withLock(\.asked) }
    /// The time of a run outside the schedule that is left for a later visit.
    var extra: Timestamp? { state.withLock(\.extra) }

    /// The poll as a part of its account's work.
    var part: VisitPart {
        VisitPart(
            name: .poll(poll.name),
            wake: track.start,
            executor: service.executor,
            turn: { await self.turn() },
            cancel: { await self.service.abort() }
        )
    }

    private func turn() async -> Timestamp? {
        var (extra, isRestored) = state.withLock { ($0.extra, $0.isRestored) }
        if !isRestored {
            lookedAt()
            if let retry = await restore() { return retry }
        }
        let next = await turn(&extra, on: time)
        state.withLock { [extra] in $0.extra = extra }
        guard track.state.withLock(\.isStarting) else { return next }
        // It is not known yet whether the first run is due.
        let retry = time.now + ExtraRun.afterStoreFailure
        return min(next ?? retry, retry)
    }

    /// Restores the times that an earlier run stored. Without them, a run that fell due before the start would be skipped.
    ///
    /// - Returns: The time of the next try; `nil` after a success.
    private func restore() async -> Timestamp? {
        let stored: PollState?
        do throws(StoreError) { stored = try await service.storedState(of: poll) } catch {
            let failures = state.withLock { state in
                state.failures += 1
                return state.failures
            }
            service.environment.logger.log(
                .pollStoreFailed,
                [.poll: "\(poll.name.rawValue)", .error: "\(error.description)"]
            )
            return time.now + ExtraRun.afterStoreFailures(failures)
        }
        var times: ScheduleTimes = (stored?.nextRun, nil, false)
        if isLasting, case .every = schedule {
            countMissed(before: stored?.nextRun)
            // The interval begins with the process, so the first run is immediate.
            times.nextRun = nil
        } else {
            times.lastRun = stored?.lastAttempt.map { min($0, time.now) }
        }
        state.withLock { [times] in ($0.times, $0.stored, $0.isRestored) = (times, stored?.nextRun, true) }
        return nil
    }

    private func countMissed(before nextRun: Timestamp?) {
        let missed = SchedulerDecision.missedBeforeStart(
            of: schedule,
            nextRun: nextRun,
            now: time.now,
            catchUp: catchUp,
            splay: splay
        )
        count([.missed: missed])
    }

    // MARK: - Schedule

    func times() -> ScheduleTimes {
        var times = state.withLock(\.times)
        times.isRunning = track.isRunning
        return times
    }

    func startsNow() async -> Bool {
        guard track.state.withLock({ exchange(&$0.isStarting, with: false) }) else { return false }
        do throws(StoreError) { return try await service.isNew(poll) } catch {
            // The next turn tries again.
            track.state.withLock { $0.isStarting = true }
            return false
        }
    }

    func plan(_ next: Timestamp?) async {
        setNext(next)
        // A visit that lasts knows it.
        guard !isLasting, let next, state.withLock({ $0.stored != next }) else { return }
        state.withLock { $0.stored = next }
        await keep(next)
    }

    func run(planned: Timestamp?, next: Timestamp?) async -> Timestamp? {
        let began = time.now
        state.withLock { $0.times.lastRun = began }
        if let planned {
            metrics.scheduleDelay[poll.label].observe(max(began - planned - splay, .zero))
            setNext(next)
        }
        let result = await service.pass(poll, runID: RandomID.runID(), nextRun: next)
        let now = time.now
        state.withLock { state in
            state.stored = next
            guard result.skip == nil else { return }
            state.asked.attempted = began
            if result.hasSucceeded { state.asked.succeeded = now }
        }
        return await again(after: result.skip == .overlap ? await service.join(poll) : result)
    }

    func join() async -> Timestamp? { await again(after: await service.join(poll)) }

    /// The time of a retry. Failures in a row are not counted over visits, and one account must not take the time of others.
    private func again(after result: PollCycle.Result) async -> Timestamp? {
        let retry = await service.again(poll, after: result)
        return isLasting ? retry : retry.map { max($0, time.now + ExtraRun.afterNetworkFailure) }
    }

    func count(_ outcomes: [ScheduleOutcome: Int]) { service.count(outcomes, of: poll) }

    func lookedAt() { service.progress.mark(.poll(poll.name), at: time.monotonic) }

    private func setNext(_ next: Timestamp?) {
        let times = state.withLock { state in
            state.times.nextRun = next
            return state.times
        }
        guard let next else { return }
        if isLasting { metrics.nextRun[poll.label].set((next + splay).seconds) }
        let planned = (times: times, at: time.now, boottime: time.boottime)
        track.state.withLock { $0.planned = planned }
    }

    /// Stores a planned run, which the next visit finds.
    private func keep(_ next: Timestamp) async {
        guard let did = try? await service.account.identity.current().identity.did else { return }
        let stream = service.account.stream(of: poll, for: did)
        var record = CycleRecord(stream: stream, runID: RandomID.runID(), finishedAt: time.now)
        record.nextRun = next
        service.environment.store.polls.recordUnchanged(record)
    }
}

package import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Runs every configured poll on its schedule, and by hand.
package final class PollService: Service {
    private let polls: [Poll]
    private let store: Store
    private let caller: APICaller
    private let identity: IdentityContext
    private let outbox: OutboxOptions
    private let limit: ConcurrencyLimit
    private let longestCycle: Duration
    private let logger: Logger
    /// Raised when a cycle stored something to deliver.
    private let hasStored: Signal
    /// Raised when there may be something to acknowledge, or the watermark may move.
    private let hasDelivered: Signal
    /// Raised after every cycle.
    private let hasCycled: Signal
    private let state: Mutex<State>
    private let progress: ProgressMark
    private let news: NewsDesk

    private struct State {
        /// Polls with a cycle under way.
        var running: [PollName: Task<PollCycle.Result?, Never>] = [:]
        var lastSkip: [PollName: SkipReason] = [:]
        var nextRun: [PollName: Timestamp] = [:]
        /// Cycles in a row that failed in the database.
        var storeFailures: [PollName: Int] = [:]
    }

    private let pages: [PollName: PageMemory]

    package init(
        polls: [Poll],
        store: Store,
        caller: APICaller,
        identity: IdentityContext,
        outbox: OutboxOptions,
        maxConcurrent: Int,
        longestCycle: Duration = LimitOptions().cycle,
        hasStored: Signal,
        hasDelivered: Signal,
        hasCycled: Signal = Signal(),
        progress: ProgressMark,
        news: NewsDesk = NewsDesk(),
        logger: Logger
    ) {
        self.polls = polls
        self.store = store
        self.caller = caller
        self.identity = identity
        self.outbox = outbox
        self.limit = ConcurrencyLimit(maxConcurrent)
        self.longestCycle = longestCycle
        self.hasStored = hasStored
        self.hasDelivered = hasDelivered
        self.hasCycled = hasCycled
        self.progress = progress
        self.news = news
        self.logger = logger
        self.state = Mutex(State())
        pages = Dictionary(uniqueKeysWithValues: polls.map { ($0.name, PageMemory()) })
    }

    /// Runs the schedules until the service is told to stop; a cycle under way is then given up, which loses nothing.
    package func run() async throws {
        // An agent may be there for its host's polls only, and a service that ends by itself ends all.
        guard !polls.isEmpty else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for poll in self.polls { group.addTask { await self.follow(poll) } }
            }
        }
        // Those that were not the schedule's.
        await abort()
    }

    /// Runs one cycle now.
    ///
    /// - Parameter nextRun: When the schedule fires next, stored with the cycle; `nil` for a run by hand.
    package func pass(_ poll: Poll, runID: String, nextRun: Timestamp? = nil) async -> PollCycle.Result {
        let (task, isOurs) = begin(poll, runID: runID, nextRun: nextRun)
        guard isOurs else { return skipped(poll, .overlap, runID: runID) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return end(poll, result, runID: runID)
    }

    /// Runs one cycle now, or waits for the one under way, which is as good. A caller that gives up does not end it: it
    /// may be the schedule's.
    package func refresh(_ poll: Poll) async -> PollCycle.Result {
        await Task {
            let runID = RandomID.runID()
            let (task, isOurs) = begin(poll, runID: runID, nextRun: nil)
            let result = await task.value
            return isOurs ? end(poll, result, runID: runID) : result ?? PollCycle.Result(skip: .overlap)
        }.value
    }

    private typealias Running = Task<PollCycle.Result?, Never>

    /// The cycle under way, or a new one, whose starter has to ``end(_:_:runID:)`` it.
    private func begin(_ poll: Poll, runID: String, nextRun: Timestamp?) -> (task: Running, isOurs: Bool) {
        let cycle = PollCycle(
            poll: poll,
            store: store,
            caller: caller,
            identity: identity,
            outbox: outbox,
            pages: pages[poll.name] ?? PageMemory(),
            longest: longestCycle,
            runID: runID,
            logger: logger,
            nextRun: nextRun
        )
        // A task of its own, so that a change of identity can cancel it and leave the caller be.
        return state.withLock { state in
            if let running = state.running[poll.name] { return (running, false) }
            // While it waits for its turn, the cycles that run count.
            progress.pause(.poll(poll.name))
            let task = Task { [limit, progress, time = caller.time] in
                await limit.run {
                    progress.mark(.poll(poll.name), at: time.monotonic)
                    return await cycle.run()
                }
            }
            state.running[poll.name] = task
            return (task, true)
        }
    }

    /// Makes room for the next cycle and says what came of this one.
    private func end(_ poll: Poll, _ result: PollCycle.Result?, runID: String) -> PollCycle.Result {
        defer {
            state.withLock { $0.running[poll.name] = nil }
            hasCycled.raise()
        }
        guard let result else { return skipped(poll, .overlap, runID: runID) }
        if let skip = result.skip { return skipped(poll, skip, runID: runID) }
        state.withLock { $0.lastSkip[poll.name] = nil }
        if let outcome = result.outcome { news.publish(.poll(poll.name, outcome, newChanges: result.new)) }
        if result.hasStored { hasStored.raise() }
        // What was delivered before the walk was complete is acknowledged already; only the watermark is behind.
        if result.cursorMoved && result.new == 0 { hasDelivered.raise() }
        return result
    }

    /// Gives up every cycle under way, because the identity changed, and returns when they have ended.
    package func abort() async {
        let tasks = state.withLock { state in polls.compactMap { state.running[$0.name] } }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
    }

    /// Why the poll's last cycle was skipped; `nil` when it was not.
    package func lastSkip(_ poll: PollName) -> SkipReason? { state.withLock { $0.lastSkip[poll] } }

    /// When the schedule fires next.
    package func nextRun(_ poll: PollName) -> Timestamp? { state.withLock { $0.nextRun[poll] } }

    // MARK: - Schedule

    /// Follows the poll's schedule until the task is cancelled.
    private func follow(_ poll: Poll) async {
        let time = caller.time
        let polls = caller.metrics.polls
        var (nextRun, lastRun) = await restore(poll)
        // A cycle that could not reach the server, or had to wait, is not left to the next scheduled time.
        var extra: Timestamp?
        while !Task.isCancelled {
            let now = time.now
            progress.mark(.poll(poll.name), at: time.monotonic)
            let decision = SchedulerDecision.decide(
                schedule: poll.schedule,
                nextRun: nextRun,
                lastRun: lastRun,
                now: now,
                catchUp: poll.options.catchUp,
                splay: poll.splay,
                isRunning: state.withLock { $0.running[poll.name] != nil }
            )
            for (outcome, count) in decision.outcomes {
                polls.scheduleRuns[poll.label, outcome].increment(by: UInt64(count))
            }
            switch decision {
            case .sleep(let until, let planned):
                nextRun = planned
                plan(planned, of: poll)
                if let due = extra, due <= now {
                    extra = nil
                    lastRun = now
                    extra = await cycle(poll, nextRun: planned)
                } else {
                    try? await time.sleep(for: min(until, extra ?? until) - now)
                }
            case .run(_, let planned, _, let next):
                polls.scheduleDelay[poll.label].observe(max(now - planned - poll.splay, .zero))
                nextRun = next
                lastRun = now
                if let next { plan(next, of: poll) }
                extra = await cycle(poll, nextRun: next)
                nextRun = coalesce(poll, nextRun: nextRun, lastRun: lastRun)
            case .skip(_, let next):
                nextRun = next
                if let next { plan(next, of: poll) }
            case .coalesce(_, let next):
                nextRun = next
                if let next { plan(next, of: poll) }
                extra = await again(poll, after: await running(poll))
                nextRun = coalesce(poll, nextRun: nextRun, lastRun: lastRun)
            case .idle:
                try? await time.sleep(for: SchedulerDecision.longestSleep)
            }
        }
    }

    /// Counts the runs that fell due during the cycle that has just ended, which stands for them; the next one after.
    private func coalesce(_ poll: Poll, nextRun: Timestamp?, lastRun: Timestamp?) -> Timestamp? {
        let decision = SchedulerDecision.decide(
            schedule: poll.schedule,
            nextRun: nextRun,
            lastRun: lastRun,
            now: caller.time.now,
            catchUp: poll.options.catchUp,
            splay: poll.splay,
            isRunning: true
        )
        guard case .coalesce(_, let next) = decision else { return nextRun }
        for (outcome, count) in decision.outcomes {
            caller.metrics.polls.scheduleRuns[poll.label, outcome].increment(by: UInt64(count))
        }
        if let next { plan(next, of: poll) }
        return next
    }

    /// Runs a cycle; when to try once more outside the schedule.
    private func cycle(_ poll: Poll, nextRun: Timestamp?) async -> Timestamp? {
        let result = await pass(poll, runID: RandomID.runID(), nextRun: nextRun)
        return await again(poll, after: result.skip == .overlap ? await running(poll) : result)
    }

    /// Waits for a cycle that somebody else began and will not try again: it stands for the schedule's.
    ///
    /// - Returns: What came of it; that it was skipped, when there is none.
    private func running(_ poll: Poll) async -> PollCycle.Result {
        guard let task = state.withLock({ $0.running[poll.name] }) else { return PollCycle.Result(skip: .overlap) }
        // When the schedule ends, so does every cycle.
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return result ?? PollCycle.Result(skip: .overlap)
    }

    /// When to try once more outside the schedule, after a cycle of that result.
    private func again(_ poll: Poll, after result: PollCycle.Result) async -> Timestamp? {
        let now = caller.time.now
        let storeFailures = state.withLock { state in
            guard result.skip == nil else { return nil as Int? }
            let count = result.isStoreFailure ? state.storeFailures[poll.name, default: 0] + 1 : nil
            state.storeFailures[poll.name] = count
            return count
        }
        if let resumeAt = result.resumeAt { return resumeAt }
        if let storeFailures { return now + ExtraRun.afterStoreFailures(storeFailures) }
        if result.isOutOfRoom { return now + ExtraRun.whileOutOfRoom }
        switch (result.skip, result.failure) {
        // The wait may have ended since.
        case (.throttled, _): return await caller.gate.heldUntil(now: now) ?? now
        // While another poll's cycle tries the server, nobody knows when the next one may.
        case (.circuitOpen, _): return await caller.gate.nextTrial ?? now + ExtraRun.afterAnothers
        case (.overlap, _), (_, .cancelled): return now + ExtraRun.afterAnothers
        case (.backpressure, _): return now + ExtraRun.whileOutOfRoom
        case (_, .network): return now + ExtraRun.afterNetworkFailure
        case (_, .timeout), (_, .serverError), (_, .unavailable): return now + ExtraRun.afterServerFailure
        default: return nil
        }
    }

    private func restore(_ poll: Poll) async -> (nextRun: Timestamp?, lastRun: Timestamp?) {
        guard let did = (try? await identity.current())?.identity.did,
            let stored = try? await store.pollState(
                StreamKey(account: did, server: caller.gate.server, poll: poll.name),
                maxUndelivered: outbox.maxUndelivered
            )
        else { return (nil, nil) }
        caller.metrics.polls.lastAttempt[poll.label].set(stored.lastAttempt?.seconds ?? 0)
        caller.metrics.polls.lastSuccess[poll.label].set(stored.lastSuccess?.seconds ?? 0)
        // An interval counts from the start of the agent: its first run is at once.
        if case .every = poll.schedule { return (nil, nil) }
        return (stored.nextRun, stored.lastAttempt)
    }

    private func plan(_ time: Timestamp, of poll: Poll) {
        caller.metrics.polls.nextRun[poll.label].set((time + poll.splay).seconds)
        state.withLock { $0.nextRun[poll.name] = time + poll.splay }
    }

    private func skipped(_ poll: Poll, _ reason: SkipReason, runID: String) -> PollCycle.Result {
        caller.metrics.polls.skipped[poll.label, reason].increment()
        news.publish(.skipped(poll.name, reason))
        let isNew = state.withLock { state in
            defer { state.lastSkip[poll.name] = reason }
            return state.lastSkip[poll.name] != reason
        }
        // Said when it changes, counted every time.
        logger.log(
            isNew ? .pollSkipped : .pollSkippedAgain,
            [.runID: "\(runID)", .poll: "\(poll.name.rawValue)", .reason: "\(reason.rawValue)"]
        )
        return PollCycle.Result(skip: reason)
    }
}

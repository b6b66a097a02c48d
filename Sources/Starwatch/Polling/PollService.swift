import Logging
package import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Runs the cycles of an account's polls.
package final class PollService: Sendable {
    typealias Running = Task<PollCycle.Result?, Never>

    struct State {
        /// The cycles in progress.
        var running: [PollName: Running] = [:]
        /// The skip of the last cycle, and the time since which cycles are skipped for this reason.
        var lastSkip: [PollName: (reason: SkipReason, since: Timestamp)] = [:]
        /// The reason why the last cycle got no token.
        var lastTokenReason: [PollName: FailureReason] = [:]
        /// The planned runs, with the times of their planning on both clocks.
        var planned: [PollName: (times: ScheduleTimes, at: Timestamp, boottime: Duration)] = [:]
        /// Number of consecutive cycles that failed in the database.
        var storeFailures: [PollName: Int] = [:]
        /// Number of consecutive cycles that got no token.
        var tokenFailures: [PollName: Int] = [:]
        /// The polls that can need their first run, before it is known whether they do.
        var starting: Set<PollName> = []
    }

    let polls: [Poll]
    let shared: PollCycle.Shared
    private let limit: ConcurrencyLimit
    private let wakes: WakeSignals
    let progress: ProgressMark
    private let news: EventBroadcaster
    let state: Mutex<State>
    /// Wakes a poll that can need its first run.
    let starts: [PollName: Wake]
    private let memories: [PollName: WalkMemory]

    package init(
        polls: [Poll],
        shared: PollCycle.Shared,
        maxConcurrent: Int,
        wakes: WakeSignals,
        progress: ProgressMark,
        news: EventBroadcaster
    ) {
        self.polls = polls
        self.shared = shared
        limit = ConcurrencyLimit(maxConcurrent)
        (self.wakes, self.progress, self.news) = (wakes, progress, news)
        state = Mutex(State(starting: Set(polls.map(\.name))))
        starts = Dictionary(uniqueKeysWithValues: polls.map { ($0.name, Wake(wakes.visit)) })
        memories = Dictionary(uniqueKeysWithValues: polls.map { ($0.name, WalkMemory()) })
    }

    var environment: Environment { shared.environment }

    /// The executor of visits and cycles: the one on which answers arrive, so that a cycle changes no threads. What
    /// blocks or takes long runs elsewhere; see ``Offload``.
    package var executor: (any TaskExecutor)? { shared.account.api.client.http.executor }

    /// Runs one cycle now.
    ///
    /// - Parameter nextRun: The next scheduled run, stored with the cycle; `nil` for a manual run.
    package func pass(_ poll: Poll, runID: String, nextRun: Timestamp? = nil) async -> PollCycle.Result {
        let (task, isOurs) = begin(poll, runID: runID, nextRun: nextRun)
        guard isOurs else { return skipped(poll, .overlap, runID: runID) }
        return end(poll, await Self.value(of: task), runID: runID)
    }

    /// Runs one cycle now, or waits for the one in progress. Cancelling the caller does not cancel the cycle, because
    /// the schedule can own it.
    package func refresh(_ poll: Poll) async -> PollCycle.Result {
        // The task is unstructured, so that the cycle continues when the caller is cancelled.
        await Task {
            let runID = RandomID.runID()
            let (task, isOurs) = begin(poll, runID: runID, nextRun: nil)
            let result = await task.value
            return isOurs ? end(poll, result, runID: runID) : result ?? PollCycle.Result(skip: .overlap)
        }.value
    }

    /// Asks for one page of the poll and stores nothing.
    package func trial(_ poll: Poll, runID: String) async -> PollCycle.Result {
        await PollCycle(poll: poll, shared: shared, runID: runID, nextRun: nil).trial()
    }

    /// Waits for the cycle that another caller started. It replaces the scheduled one.
    ///
    /// - Returns: A skip if no cycle is in progress.
    func join(_ poll: Poll) async -> PollCycle.Result {
        guard let task = state.withLock({ $0.running[poll.name] }) else { return PollCycle.Result(skip: .overlap) }
        // Cancelling the schedule cancels every cycle.
        return await Self.value(of: task) ?? PollCycle.Result(skip: .overlap)
    }

    /// Cancels every cycle in progress because the identity changed, and returns when they have ended.
    package func abort() async {
        let tasks = state.withLock { state in polls.compactMap { state.running[$0.name] } }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        state.withLock { $0.lastTokenReason = [:] }
    }

    /// Lets every poll that has never run for the account start now: the identity or its stars changed.
    package func startNew() {
        state.withLock { $0.starting = Set(polls.map(\.name)) }
        for poll in polls { starts[poll.name]?.raise() }
    }

    /// Keeps what `former`, the service before a reload, knew of its polls' problems, until the next cycle of each.
    func keepProblems(of former: PollService) {
        let reasons = former.state.withLock(\.lastTokenReason)
        state.withLock { state in
            for poll in polls { state.lastTokenReason[poll.name] = reasons[poll.name] }
        }
        for poll in polls { memories[poll.name]?.keepBacklog(former.backlog(poll.name)) }
    }

    /// The changes that the poll's cycles have left at the server; `nil` if the last one left nothing, or before the first.
    package func backlog(_ poll: PollName) -> FetchBacklog? { memories[poll]?.backlog }

    /// The account's own plans that a poll's last cycle asked for; `nil` if none has, or the poll names none.
    package func ownPlans(_ poll: PollName) -> OwnPlansNote? { memories[poll]?.ownPlans }

    /// The skip of the poll's last cycle, with the time since which cycles are skipped for its reason; `nil` if it was not skipped.
    package func lastSkip(_ poll: PollName) -> (reason: SkipReason, since: Timestamp)? {
        state.withLock { $0.lastSkip[poll] }
    }

    /// The reason why the poll's last cycle got no token; `nil` if it got one, or was skipped for another reason.
    package func lastTokenReason(_ poll: PollName) -> FailureReason? { state.withLock { $0.lastTokenReason[poll] } }

    func isRunning(_ poll: PollName) -> Bool { state.withLock { $0.running[poll] != nil } }

    /// The server's time up to which a poll has seen every change; `nil` before its first cycle.
    func seenUntil(of stream: StreamKey) -> Timestamp? { memories[stream.poll]?.seenUntil(of: stream) }

    /// The same of the poll's present stream.
    func seenUntil(_ poll: PollName) -> Timestamp? { memories[poll]?.seenUntil }

    /// The last runs of a poll, or of all polls, in no order.
    func recentRuns(of poll: PollName? = nil) -> [RecentRun] {
        if let poll { return memories[poll]?.runs.all ?? [] }
        return polls.flatMap { memories[$0.name]?.runs.all ?? [] }
    }

    /// The next scheduled run by the local clock, also after that was set: the schedule looks at it every half minute, and
    /// then decides in the same way. `nil` before the schedule's first decision.
    package func nextRun(_ poll: Poll) -> Timestamp? {
        guard let planned = state.withLock({ $0.planned[poll.name] }), let next = planned.times.nextRun else {
            return nil
        }
        let (now, boottime) = (environment.time.now, environment.time.boottime)
        let decision = SchedulerDecision.decide(
            schedule: poll.schedule,
            nextRun: next,
            lastRun: planned.times.lastRun,
            now: now,
            catchUp: poll.options.catchUp,
            splay: poll.splay
        )
        if case .sleep(_, let next) = decision { return next + poll.splay }
        // A run that is due is late, unless the clock has just been set ahead.
        let step = (now - planned.at) - (boottime - planned.boottime)
        return step > .seconds(1) ? max(now, next + poll.splay) : next + poll.splay
    }

    /// Returns the cycle in progress, or starts one. The caller that starts it must call ``end(_:_:runID:)``.
    private func begin(_ poll: Poll, runID: String, nextRun: Timestamp?) -> (task: Running, isOurs: Bool) {
        let cycle = PollCycle(
            poll: poll,
            shared: shared,
            memory: memories[poll.name] ?? WalkMemory(),
            runID: runID,
            nextRun: nextRun
        )
        return state.withLock { state in
            if let running = state.running[poll.name] { return (running, false) }
            // While the cycle waits for its turn, the progress of the running cycles counts.
            progress.pause(.poll(poll.name))
            // The task is unstructured, so that a change of identity cancels the cycle but not its caller.
            let task: Running = Task(executorPreference: executor) { [limit, progress, time = environment.time] in
                guard await limit.acquire() else { return nil }
                defer { limit.release() }
                progress.mark(.poll(poll.name), at: time.monotonic)
                return await cycle.run(on: cycle.gate)
            }
            state.running[poll.name] = task
            return (task, true)
        }
    }

    /// Removes the finished cycle and reports its result.
    private func end(_ poll: Poll, _ result: PollCycle.Result?, runID: String) -> PollCycle.Result {
        defer {
            state.withLock { $0.running[poll.name] = nil }
            wakes.callbacks.raise()
        }
        guard let result else { return skipped(poll, .overlap, runID: runID) }
        shared.store.health.ended(.poll(poll.name), failed: result.isStoreFailure)
        let hasNoToken = result.lacksToken || result.skip == .noToken
        state.withLock { $0.lastTokenReason[poll.name] = hasNoToken ? result.cause : nil }
        if let skip = result.skip {
            var skipped = skipped(poll, skip, runID: runID)
            (skipped.cause, skipped.lacksToken) = (result.cause, result.lacksToken)
            return skipped
        }
        state.withLock { $0.lastSkip[poll.name] = nil }
        if let outcome = result.outcome { news.publish(.poll(poll.name, outcome, newChanges: result.new)) }
        if result.hasStored { wakes.dispatch.raise() }
        // Changes delivered before the walk was complete are already acknowledged. Only the watermark is behind.
        if result.suppressed > 0 || result.cursorMoved && result.new == 0 { wakes.acknowledge.raise() }
        return result
    }

    private func skipped(_ poll: Poll, _ reason: SkipReason, runID: String) -> PollCycle.Result {
        environment.metrics.polls.skipped[poll.label, reason].increment()
        let now = environment.time.now
        var run = RecentRun(runID: runID, poll: poll.name, startedAt: now, finishedAt: now, outcome: RecentRun.skipped)
        run.reason = reason.rawValue
        memories[poll.name]?.runs.add(run)
        news.publish(.skipped(poll.name, reason))
        let isNew = state.withLock { state in
            guard state.lastSkip[poll.name]?.reason != reason else { return false }
            state.lastSkip[poll.name] = (reason, environment.time.now)
            return true
        }
        // A skip is counted every time, but logged only when its reason changes. A missing endpoint has its own event, once
        // for all accounts.
        environment.logger.log(
            isNew && reason != .endpointMissing ? .pollSkipped : .pollSkippedAgain,
            [.runID: "\(runID)", .poll: "\(poll.name.rawValue)", .reason: "\(reason.rawValue)"]
        )
        return PollCycle.Result(skip: reason)
    }

    private static func value(of task: Running) async -> PollCycle.Result? {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

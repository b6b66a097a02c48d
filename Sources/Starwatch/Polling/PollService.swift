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

    /// A poll, with what is known of its cycles.
    final class Track: Sendable {
        struct State {
            /// The cycle in progress.
            var running: Running?
            /// The skip of the last cycle, and the time since which cycles are skipped for this reason.
            var lastSkip: (reason: SkipReason, since: Timestamp)?
            /// The reason why the last cycle got no token.
            var lastTokenReason: FailureReason?
            /// The planned runs, with the times of their planning on both clocks.
            var planned: (times: ScheduleTimes, at: Timestamp, boottime: Duration)?
            /// Number of consecutive cycles that failed in the database.
            var storeFailures = 0
            /// Number of consecutive cycles that got no token.
            var tokenFailures = 0
            /// Whether it can need its first run, before it is known whether it does.
            var isStarting = true
        }

        let name: PollName
        let label: ConfiguredName
        let state = Mutex(State())
        let memory = WalkMemory()
        /// Wakes the poll when it can need its first run.
        let start: Wake

        init(_ poll: Poll, _ visit: Signal) { (name, label, start) = (poll.name, poll.label, Wake(visit)) }

        var isRunning: Bool { state.withLock { $0.running != nil } }
    }

    let polls: [Poll]
    let account: Account
    let environment: Environment
    let options: AgentOptions
    /// The last cycles of all accounts.
    let lastCycles: LastCycles
    let sharing: [PollKind: SharedRequests]
    private let limit: ConcurrencyLimit
    let progress: ProgressMark
    private let news: EventBroadcaster
    private let tracks: [Track]

    init(
        polls: [Poll],
        account: Account,
        options: AgentOptions,
        lastCycles: LastCycles,
        sharing: [PollKind: SharedRequests],
        progress: ProgressMark,
        news: EventBroadcaster
    ) {
        (self.polls, self.account, self.options) = (polls, account, options)
        (environment, self.lastCycles, self.sharing) = (account.environment, lastCycles, sharing)
        // Many accounts are visited at once. Each polls one after the other.
        limit = ConcurrencyLimit(account.identity.served == nil ? options.limits.maxConcurrentPolls : 1)
        (self.progress, self.news) = (progress, news)
        tracks = polls.map { Track($0, account.wakes.visit) }
    }

    /// The track of a poll. The number of its label finds it: a dictionary of names takes 300 instructions for each look
    /// (callgrind, `Benchmarks/instructions`).
    func track(_ poll: Poll) -> Track { tracks.first { $0.label.index == poll.label.index }! }

    private func track(_ poll: PollName) -> Track? { tracks.first { $0.name == poll } }

    /// Whether a cycle is in progress.
    var isPolling: Bool { tracks.contains(where: \.isRunning) }

    /// The executor of visits and cycles: the one on which answers arrive, so that a cycle changes no threads. What
    /// blocks or takes long runs elsewhere; see ``Offload``.
    package var executor: (any TaskExecutor)? { account.api.client.http.executor }

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
    ///
    /// - Parameter shares: Whether an answer that other accounts share will do.
    package func refresh(_ poll: Poll, shares: Bool = false) async -> PollCycle.Result {
        // The task is unstructured, so that the cycle continues when the caller is cancelled.
        await Task {
            let runID = RandomID.runID()
            let (task, isOurs) = begin(poll, runID: runID, nextRun: nil, shares: shares)
            let result = await task.value
            return isOurs ? end(poll, result, runID: runID) : result ?? PollCycle.Result(skip: .overlap)
        }.value
    }

    /// Asks for one page of the poll and stores nothing.
    package func trial(_ poll: Poll, runID: String) async -> PollCycle.Result {
        await PollCycle(poll: poll, of: self, runID: runID, nextRun: nil).trial()
    }

    /// Waits for the cycle that another caller started. It replaces the scheduled one.
    ///
    /// - Returns: A skip if no cycle is in progress.
    func join(_ poll: Poll) async -> PollCycle.Result {
        guard let task = track(poll).state.withLock(\.running) else { return PollCycle.Result(skip: .overlap) }
        // Cancelling the schedule cancels every cycle.
        return await Self.value(of: task) ?? PollCycle.Result(skip: .overlap)
    }

    /// Cancels every cycle in progress because the identity changed, and returns when they have ended.
    package func abort() async {
        let tasks = tracks.compactMap { $0.state.withLock(\.running) }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        for track in tracks { track.state.withLock { $0.lastTokenReason = nil } }
    }

    /// Lets every poll that has never run for the account start now: the identity or its stars changed.
    package func startNew() {
        for track in tracks {
            track.state.withLock { $0.isStarting = true }
            track.start.raise()
        }
    }

    /// Keeps what `former`, the service before a reload, knew of its polls' problems, until the next cycle of each.
    func keepProblems(of former: PollService) {
        for track in tracks {
            let known = former.track(track.name)
            let reason = known?.state.withLock(\.lastTokenReason)
            track.state.withLock { $0.lastTokenReason = reason }
            track.memory.keepBacklog(known?.memory.backlog)
        }
    }

    /// The last runs of a poll, or of all polls, in no order.
    func recentRuns(of poll: PollName? = nil) -> [RecentRun] {
        if let poll { return track(poll)?.memory.runs.all ?? [] }
        return tracks.flatMap(\.memory.runs.all)
    }

    /// The next scheduled run by the local clock, also after that was set: the schedule looks at it every half minute, and
    /// then decides in the same way. `nil` before the schedule's first decision.
    package func nextRun(_ poll: Poll) -> Timestamp? {
        guard let planned = track(poll).state.withLock(\.planned), let next = planned.times.nextRun else {
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
    private func begin(
        _ poll: Poll,
        runID: String,
        nextRun: Timestamp?,
        shares: Bool = false
    ) -> (task: Running, isOurs: Bool) {
        let track = track(poll)
        let cycle = PollCycle(
            poll: poll,
            of: self,
            memory: track.memory,
            runID: runID,
            nextRun: nextRun,
            shares: shares
        )
        return track.state.withLock { state in
            if let running = state.running { return (running, false) }
            // While the cycle waits for its turn, the progress of the running cycles counts.
            progress.pause(.poll(poll.name))
            // The task is unstructured, so that a change of identity cancels the cycle but not its caller.
            let task: Running = Task(executorPreference: executor) { [limit, progress, time = environment.time] in
                guard await limit.acquire() else { return nil }
                defer { limit.release() }
                progress.mark(.poll(poll.name), at: time.monotonic)
                return await cycle.run(on: cycle.gate)
            }
            state.running = task
            return (task, true)
        }
    }

    /// Removes the finished cycle and reports its result.
    private func end(_ poll: Poll, _ result: PollCycle.Result?, runID: String) -> PollCycle.Result {
        let track = track(poll)
        defer {
            track.state.withLock { $0.running = nil }
            account.wakes.callbacks.raise()
        }
        guard let result else { return skipped(poll, .overlap, runID: runID) }
        environment.store.health.ended(.poll(poll.name), failed: result.isStoreFailure)
        let hasNoToken = result.lacksToken || result.skip == .noToken
        track.state.withLock { state in
            state.lastTokenReason = hasNoToken ? result.failure?.cause : nil
            if result.skip == nil { state.lastSkip = nil }
        }
        if let skip = result.skip {
            var skipped = skipped(poll, skip, runID: runID)
            (skipped.failure, skipped.lacksToken) = (result.failure, result.lacksToken)
            return skipped
        }
        if let outcome = result.outcome { news.publish(.poll(poll.name, outcome, newChanges: result.new)) }
        if result.hasStored { account.wakes.dispatch.raise() }
        // Changes delivered before the walk was complete are already acknowledged. Only the watermark is behind.
        if result.suppressed > 0 || result.cursorMoved && result.new == 0 { account.wakes.acknowledge.raise() }
        return result
    }

    private func skipped(_ poll: Poll, _ reason: SkipReason, runID: String) -> PollCycle.Result {
        environment.metrics.polls.skipped[poll.label, reason].increment()
        let now = environment.time.now
        let track = track(poll)
        track.memory.runs.add(
            RecentRun(runID: runID, poll: poll.name, at: now, outcome: RecentRun.skipped, reason: reason.rawValue)
        )
        news.publish(.skipped(poll.name, reason))
        let isNew = track.state.withLock { state in
            guard state.lastSkip?.reason != reason else { return false }
            state.lastSkip = (reason, now)
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

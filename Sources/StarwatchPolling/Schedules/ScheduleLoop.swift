package import StarwatchCore

/// Work that is done on a schedule.
package protocol ScheduledWork: Sendable {
    var schedule: Schedule { get }
    var catchUp: CatchUp { get }
    /// This instance's delay after the scheduled time.
    var splay: Duration { get }

    /// The next planned run, the last one, and whether one is under way.
    func times() -> ScheduleTimes
    /// Remembers the next planned run; `nil`: the schedule does not fire any more.
    func plan(_ next: Timestamp?) async
    /// Runs once. The run counts as made when this returns.
    ///
    /// - Parameters:
    ///   - planned: The scheduled time, without the splay.
    ///   - next: The next planned run.
    /// - Returns: When to run once more outside the schedule; `nil`: not before the next planned run.
    func run(planned: Timestamp, next: Timestamp?) async -> Timestamp?
    /// Runs once outside the schedule.
    func runExtra(next: Timestamp) async -> Timestamp?
    /// Waits for the run under way, which stands for the scheduled one.
    func join() async -> Timestamp?
    /// Whether the run that is due is left out; if so, `next` is planned.
    func leavesOut(next: Timestamp?) -> Bool
    /// Counts scheduled runs by their outcome.
    func count(_ outcomes: [ScheduleOutcome: Int])
    /// Called before each decision.
    func lookedAt()
}

/// The times that a schedule goes by.
package struct ScheduleTimes: Sendable, Hashable {
    /// Without the splay; `nil` when none was ever planned.
    package var nextRun: Timestamp?
    /// `nil` when none ever started.
    package var lastRun: Timestamp?
    package var isRunning: Bool

    package init(nextRun: Timestamp?, lastRun: Timestamp?, isRunning: Bool) {
        self.nextRun = nextRun
        self.lastRun = lastRun
        self.isRunning = isRunning
    }
}

extension ScheduledWork {
    package var splay: Duration { .zero }
    package func leavesOut(next: Timestamp?) -> Bool { false }
    package func count(_ outcomes: [ScheduleOutcome: Int]) {}
    package func lookedAt() {}

    /// Follows the schedule until the task is cancelled.
    package func follow(on time: any TimeSource) async {
        // A run that could not reach the server, or had to wait, is not left to the next scheduled time.
        var extra: Timestamp?
        while !Task.isCancelled {
            lookedAt()
            let now = time.now
            let decision = decide(times(), at: now)
            switch decision {
            case .sleep(let until, let planned):
                await plan(planned)
                if let due = extra, due <= now {
                    extra = await runExtra(next: planned)
                } else {
                    try? await time.sleep(for: min(until, extra ?? until) - now)
                }
            case .run(_, let planned, _, let next):
                if leavesOut(next: next) { continue }
                count(decision.outcomes)
                extra = await run(planned: planned, next: next)
                await coalesce(at: time.now)
            case .skip(_, let next):
                count(decision.outcomes)
                await plan(next)
            case .coalesce(_, let next):
                count(decision.outcomes)
                await plan(next)
                extra = await join()
                await coalesce(at: time.now)
            case .idle:
                try? await time.sleep(for: SchedulerDecision.longestSleep)
            }
        }
    }

    /// Counts the runs that fell due during the one that has just ended, which stands for them.
    private func coalesce(at now: Timestamp) async {
        var times = times()
        times.isRunning = true
        let decision = decide(times, at: now)
        guard case .coalesce(_, let next) = decision else { return }
        count(decision.outcomes)
        await plan(next)
    }

    private func decide(_ times: ScheduleTimes, at now: Timestamp) -> SchedulerDecision {
        SchedulerDecision.decide(
            schedule: schedule,
            nextRun: times.nextRun,
            lastRun: times.lastRun,
            now: now,
            catchUp: catchUp,
            splay: splay,
            isRunning: times.isRunning
        )
    }
}

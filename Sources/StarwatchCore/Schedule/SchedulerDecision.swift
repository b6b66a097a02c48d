/// The scheduler's next step.
///
/// Store `nextRun`: it is the planned time without the splay. A poll is due at `nextRun + splay`.
public enum SchedulerDecision: Sendable, Hashable {
    /// Sleep until `until`, at most until the next ``ClockLook``.
    case sleep(until: Timestamp, nextRun: Timestamp)
    /// Start a cycle for the run at `planned`; `missed` earlier runs never started.
    case run(RunKind, planned: Timestamp, missed: Int, nextRun: Timestamp?)
    /// Skip `missed` runs, which are too late to start without catch-up.
    case skip(missed: Int, nextRun: Timestamp?)
    /// Count `runs` runs as covered by the cycle that is still running.
    case coalesce(runs: Int, nextRun: Timestamp?)
    /// Stop, because the schedule never fires again.
    case idle

    /// The punctuality of a run.
    public enum RunKind: String, Sendable, CaseIterable {
        case onTime = "on_time"
        case late
    }

    /// The largest delay of a run that is still on time: 1 s.
    public static let onTimeTolerance = Duration.seconds(1)
    /// The largest delay of a run without catch-up: 60 s, twice the longest sleep.
    public static let lateTolerance = Duration.seconds(60)
    /// The largest number of missed runs that are counted.
    public static let missedLimit = 100_000

    /// The number of scheduled runs per outcome of this decision; empty for a sleep.
    public var outcomes: [ScheduleOutcome: Int] {
        switch self {
        case .sleep, .idle: [:]
        case .run(let kind, _, let missed, _):
            [kind == .onTime ? ScheduleOutcome.onTime : .late: 1].merging(missed > 0 ? [.missed: missed] : [:]) { $1 }
        case .skip(let missed, _): [.missed: missed]
        case .coalesce(let runs, _): [.coalesced: runs]
        }
    }

    /// Decides.
    ///
    /// Repairs stored times that do not fit the schedule or the clock. A next run beyond the schedule's next run means
    /// that the clock was set back. A next run outside the schedule means that the schedule changed.
    ///
    /// - Parameters:
    ///   - nextRun: The stored planned time; `nil` if there is none.
    ///   - lastRun: The start of the last cycle; `nil` if there was none.
    ///   - splay: This instance's delay, from ``Splay``.
    ///   - isRunning: Whether a cycle of this poll is running.
    public static func decide(
        schedule: Schedule,
        nextRun: Timestamp?,
        lastRun: Timestamp?,
        now: Timestamp,
        catchUp: CatchUp,
        splay: Duration = .zero,
        isRunning: Bool = false
    ) -> SchedulerDecision {
        let schedule = schedule.current
        guard let planned = plan(schedule, stored: nextRun, lastRun: lastRun, now: now, splay: splay) else {
            return .idle
        }
        let due = planned + splay
        guard now >= due else { return .sleep(until: min(due, ClockLook.next(after: now)), nextRun: planned) }

        let (latest, earlier) = latestDue(schedule, from: planned, now: now - splay)
        let next = schedule.next(after: latest)
        if isRunning { return .coalesce(runs: earlier + 1, nextRun: next) }
        let delay = now - (latest + splay)
        if catchUp == .none, delay > lateTolerance { return .skip(missed: earlier + 1, nextRun: next) }
        let kind: RunKind = delay <= onTimeTolerance ? .onTime : .late
        return .run(kind, planned: latest, missed: earlier, nextRun: next)
    }

    /// Returns the number of runs of an interval that fell due while the agent was not running.
    ///
    /// The interval begins anew when the agent starts. That first run stands for the latest of the others, unless it is
    /// too late for it without catch-up.
    ///
    /// - Parameter nextRun: The stored planned time; `nil` if there is none.
    /// - Returns: 0 for a cron schedule, whose first decision counts them.
    public static func missedBeforeStart(
        of schedule: Schedule,
        nextRun: Timestamp?,
        now: Timestamp,
        catchUp: CatchUp,
        splay: Duration = .zero
    ) -> Int {
        guard case .every = schedule, let nextRun, now >= nextRun + splay else { return 0 }
        let (latest, earlier) = latestDue(schedule, from: nextRun, now: now - splay)
        return catchUp == .none && now - (latest + splay) > lateTolerance ? earlier + 1 : earlier
    }

    /// The planned time: the stored one, or its replacement.
    private static func plan(
        _ schedule: Schedule,
        stored: Timestamp?,
        lastRun: Timestamp?,
        now: Timestamp,
        splay: Duration
    ) -> Timestamp? {
        switch schedule {
        case .every:
            if let stored, let limit = schedule.next(after: now), stored <= limit { return stored }
            // A poll that never ran runs at once. One that ran in the future runs one interval from now: the clock was
            // set back.
            guard let lastRun else { return now }
            return schedule.next(after: min(lastRun, now))
        case .cron:
            let upcoming = schedule.next(after: now)
            if let stored {
                // Within the splay the next planned time can already be past.
                if let upcoming, stored > upcoming { return upcoming }
                let contained = schedule.next(after: Timestamp(milliseconds: stored.milliseconds - 1)) == stored
                return contained ? stored : upcoming
            }
            guard let lastRun, lastRun <= now else { return upcoming }
            return schedule.next(after: lastRun)
        }
    }

    /// The last run at or before `now`, starting with `first`, and the number of runs before it.
    private static func latestDue(
        _ schedule: Schedule,
        from first: Timestamp,
        now: Timestamp
    ) -> (latest: Timestamp, earlier: Int) {
        if case .every = schedule, let second = schedule.next(after: first) {
            let interval = (second - first).wholeMilliseconds
            let steps = max(0, (now - first).wholeMilliseconds / interval)
            return (first + .milliseconds(steps * interval), Int(min(steps, Int64(missedLimit))))
        }
        var latest = first
        var earlier = 0
        while let next = schedule.next(after: latest), next <= now {
            latest = next
            earlier += 1
            if earlier == missedLimit {
                // So many runs are minutes apart, so the last one lies within the last day.
                latest = max(latest, now - .seconds(90_000))
                while let next = schedule.next(after: latest), next <= now { latest = next }
                break
            }
        }
        return (latest, earlier)
    }
}

/// A time at which a schedule fires, with the information to display it.
public struct ScheduledRun: Sendable, Hashable {
    /// The effect of daylight saving time on a run.
    public enum DaylightSaving: String, Sendable, CaseIterable {
        case none
        /// The local time was skipped. The run is at the first instant after the gap.
        case gap
        /// The local time occurs twice.
        case fold
    }

    public let time: Timestamp
    /// Seconds east of UTC in the schedule's zone at ``time``.
    public let offsetSeconds: Int
    public let dst: DaylightSaving
}

/// The outcome of a scheduled run; the `outcome` label of `starwatch_schedule_runs_total`.
public enum ScheduleOutcome: String, Sendable, CaseIterable {
    /// It started within ``SchedulerDecision/onTimeTolerance``.
    case onTime = "on_time"
    /// It started later than that.
    case late
    /// It never started because the agent was not running. A later run can stand for it.
    case missed
    /// It was due while the previous cycle was still running.
    case coalesced
}

/// The treatment of runs missed while the agent was down or the machine was suspended.
public enum CatchUp: String, Sendable, CaseIterable, Codable {
    /// Wait for the next regular run.
    case none
    /// Run once for all of them.
    case latest
}

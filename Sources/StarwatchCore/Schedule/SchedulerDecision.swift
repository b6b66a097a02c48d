/// What the scheduler does now.
///
/// `nextRun` is always the planned time without the splay; store it. A poll is due at `nextRun + splay`.
public enum SchedulerDecision: Sendable, Hashable {
    /// Look again at `until`, at most ``longestSleep`` from now, so that steps of the clock and suspends are noticed.
    case sleep(until: Timestamp, nextRun: Timestamp)
    /// Start a cycle for the run planned at `planned`; `missed` earlier ones never started.
    case run(RunKind, planned: Timestamp, missed: Int, nextRun: Timestamp?)
    /// `missed` runs are too late to start (catch-up is off).
    case skip(missed: Int, nextRun: Timestamp?)
    /// `runs` runs were due while a cycle was running; it stands for them.
    case coalesce(runs: Int, nextRun: Timestamp?)
    /// The schedule does not fire any more.
    case idle

    /// Whether a run starts when it should.
    public enum RunKind: String, Sendable, CaseIterable {
        case onTime = "on_time"
        case late
    }

    /// How late a run may start and still be on time: 1 s.
    public static let onTimeTolerance = Duration.seconds(1)
    /// How late a run may start without catch-up: 60 s, twice the longest sleep.
    public static let lateTolerance = Duration.seconds(60)
    /// 30 s.
    public static let longestSleep = Duration.seconds(30)
    /// Missed runs are counted up to this many.
    public static let missedLimit = 100_000

    /// How many scheduled runs came to which outcome by this decision. Empty for a sleep.
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
    /// Stored times that cannot come from this schedule and clock are repaired: a next run that lies further ahead
    /// than the schedule's next one (the clock was set back), or that the schedule does not contain (it was changed).
    ///
    /// - Parameters:
    ///   - nextRun: The stored planned time; `nil` when none was ever stored.
    ///   - lastRun: When the last cycle started; `nil` when none ever did.
    ///   - splay: This instance's delay, from ``Splay``.
    ///   - isRunning: Whether a cycle of this poll is under way.
    public static func decide(
        schedule: Schedule,
        nextRun: Timestamp?,
        lastRun: Timestamp?,
        now: Timestamp,
        catchUp: CatchUp,
        splay: Duration = .zero,
        isRunning: Bool = false
    ) -> SchedulerDecision {
        guard let planned = plan(schedule, stored: nextRun, lastRun: lastRun, now: now, splay: splay) else {
            return .idle
        }
        let due = planned + splay
        guard now >= due else { return .sleep(until: min(due, now + longestSleep), nextRun: planned) }

        let (latest, earlier) = latestDue(schedule, from: planned, now: now - splay)
        let next = schedule.next(after: latest)
        if isRunning { return .coalesce(runs: earlier + 1, nextRun: next) }
        let delay = now - (latest + splay)
        if catchUp == .none, delay > lateTolerance { return .skip(missed: earlier + 1, nextRun: next) }
        let kind: RunKind = delay <= onTimeTolerance ? .onTime : .late
        return .run(kind, planned: latest, missed: earlier, nextRun: next)
    }

    /// The planned time to go by: the stored one, or what replaces it.
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
            // Never ran: at once. Ran in the future: the clock was set back, and an interval from now is right.
            guard let lastRun else { return now }
            return schedule.next(after: min(lastRun, now))
        case .cron:
            let upcoming = schedule.next(after: now)
            if let stored {
                // Within the splay the next planned time may already be past.
                if let upcoming, stored > upcoming { return upcoming }
                let contained = schedule.next(after: Timestamp(milliseconds: stored.milliseconds - 1)) == stored
                return contained ? stored : upcoming
            }
            guard let lastRun, lastRun <= now else { return upcoming }
            return schedule.next(after: lastRun)
        }
    }

    /// The last run at or before `now`, beginning with `first`, and how many come before it.
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
                // So many runs are minutes apart: the last of them is among those of the last day.
                latest = max(latest, now - .seconds(90_000))
                while let next = schedule.next(after: latest), next <= now { latest = next }
                break
            }
        }
        return (latest, earlier)
    }
}

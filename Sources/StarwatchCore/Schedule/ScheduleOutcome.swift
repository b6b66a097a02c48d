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

/// What became of a scheduled run; the `outcome` label of `starwatch_schedule_runs_total`.
public enum ScheduleOutcome: String, Sendable, CaseIterable {
    /// It started within ``SchedulerDecision/onTimeTolerance``.
    case onTime = "on_time"
    /// It started later than that.
    case late
    /// It never started: the agent was not there, and a later run stands for it, or none.
    case missed
    /// It was due while the cycle before it was still running.
    case coalesced
}

/// What to do about runs that were missed while the agent was down or the machine slept.
public enum CatchUp: String, Sendable, CaseIterable, Codable {
    /// Wait for the next regular run.
    case none
    /// Run once for all of them.
    case latest
}

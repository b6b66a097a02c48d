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

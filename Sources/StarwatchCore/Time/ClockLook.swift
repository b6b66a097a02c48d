/// The moments at which everything that waits looks at the clock again, so that a set clock and a sleeping machine are noticed.
///
/// They are the same for all, so that an idle agent wakes once, and not once for each poll.
public enum ClockLook {
    /// The time from one look to the next: half a minute.
    public static let interval = Duration.seconds(30)

    /// The next moment after `now`: a full or half minute of the wall clock.
    ///
    /// - Parameter interval: Another interval; a divisor of ``interval`` has its moments in common.
    public static func next(after now: Timestamp, every interval: Duration = interval) -> Timestamp {
        let step = interval.wholeMilliseconds
        let sinceLast = now.milliseconds % step
        return Timestamp(milliseconds: now.milliseconds - sinceLast + (sinceLast < 0 ? 0 : step))
    }
}

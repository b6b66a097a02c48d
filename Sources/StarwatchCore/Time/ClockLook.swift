/// The moments at which schedules and services look at the clock again, so that a set clock and a sleeping machine are noticed.
///
/// They use the same moments, so that an idle agent wakes once, and not once for each of them.
package enum ClockLook {
    /// The time from one look to the next: half a minute.
    package static let interval = Duration.seconds(30)

    /// The next moment after `now`: a full or half minute of the wall clock.
    package static func next(after now: Timestamp) -> Timestamp {
        let step = interval.wholeMilliseconds
        let sinceLast = now.milliseconds % step
        return Timestamp(milliseconds: now.milliseconds - sinceLast + (sinceLast < 0 ? 0 : step))
    }

    /// The time from `now` to the next moment.
    package static func wait(from now: Timestamp) -> Duration { next(after: now) - now }
}

/// A point in time: whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The unit of every stored time (`…_at` columns) and of every time argument in this module.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    /// Milliseconds since the Unix epoch. Negative before 1970.
    public let milliseconds: Int64

    /// Creates a timestamp from milliseconds since the Unix epoch.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates a timestamp from whole seconds since the Unix epoch.
    public init(seconds: Int64) { self.milliseconds = seconds * 1000 }

    /// Seconds since the Unix epoch with their fraction, the form of a Prometheus timestamp.
    public var seconds: Double { Double(milliseconds) / 1000 }

    /// Whole seconds since the Unix epoch, rounded down.
    public var wholeSeconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : -((-milliseconds + 999) / 1000) }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The time `duration` later; fractions of a millisecond are dropped.
    public static func + (a: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds &+ duration.wholeMilliseconds)
    }

    /// The time `duration` earlier; fractions of a millisecond are dropped.
    public static func - (a: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: a.milliseconds &- duration.wholeMilliseconds)
    }

    /// The duration from `b` to `a`; negative if `a` is earlier.
    public static func - (a: Timestamp, b: Timestamp) -> Duration {
        .milliseconds(a.milliseconds &- b.milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 {
        // Half of the instructions of `components`, which divides twice.
        Int64(attoseconds / 1_000_000_000_000_000)
    }

    /// Seconds with their fraction, the unit of all metrics.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        // Nanoseconds first: 0.3 s is 0.3, not 0.30000000000000004. An `Int64` of them would end after 292 years.
        return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / 1e9
    }
}

extension Double {
    /// Seconds in whole microseconds: 0.000188 for 0.00018800000000000002.
    package var withoutNoise: Double { (self * 1e6).rounded() / 1e6 }
}

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

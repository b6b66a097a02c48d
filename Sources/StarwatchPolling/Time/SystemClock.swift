import Glibc
package import StarwatchCore

/// Source of the time for services. Only ``SystemClock`` reads a clock; tests provide their own.
package protocol TimeSource: Sendable {
    /// The wall clock, UTC.
    var now: Timestamp { get }
    /// Time since a fixed moment, on a clock that is never set and stops while the machine is suspended.
    var monotonic: Duration { get }
    /// Time as in ``monotonic``, but it also advances while the machine is suspended.
    var boottime: Duration { get }
    /// Sleeps for `duration` of monotonic time; returns at once when it is not positive.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The clocks of this machine. No other code reads them.
package struct SystemClock: TimeSource {
    package init() {}

    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package var monotonic: Duration { Self.read(CLOCK_MONOTONIC) }

    package var boottime: Duration { Self.read(CLOCK_BOOTTIME) }

    package func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: duration, clock: .continuous)
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

import Glibc
package import StarwatchCore

/// The clocks of this machine. The one place that reads them.
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

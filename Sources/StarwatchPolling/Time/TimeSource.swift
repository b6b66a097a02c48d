package import StarwatchCore

/// Where services get the time from. Only ``SystemClock`` reads a clock; tests give a clock of their own.
package protocol TimeSource: Sendable {
    /// The wall clock, UTC.
    var now: Timestamp { get }
    /// Time since some fixed moment on a clock that is never set and stands still while the machine is suspended.
    var monotonic: Duration { get }
    /// As ``monotonic``, but running on while the machine is suspended.
    var boottime: Duration { get }
    /// Sleeps for `duration` of monotonic time; returns at once when it is not positive.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws
}

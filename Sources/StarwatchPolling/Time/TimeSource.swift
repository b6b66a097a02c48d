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

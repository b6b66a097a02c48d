package import Logging
package import StarwatchCore
package import StarwatchPolling

/// Dependencies shared by all modules: clocks, metrics, the log and randomness.
package struct Environment: Sendable {
    /// The local clock.
    package let time: any TimeSource
    /// The local clock, corrected by the known offset of the server's clock.
    package let clock: ServerClock
    package let metrics: AgentMetrics
    package let logger: Logger
    /// Source of random numbers in `0 ..< 1`.
    package let random: @Sendable () -> Double

    /// How long a service has nothing to do: until a time by the server's clock, at most until the next ``ClockLook``.
    ///
    /// - Parameter due: `nil` if nothing is due.
    package func idleTime(until due: Timestamp?) -> Duration {
        let look = ClockLook.wait(from: time.now)
        return due.map { min(max($0 - clock.now, .zero), look) } ?? look
    }
}

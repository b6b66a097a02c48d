package import Logging
import StarwatchCore
package import StarwatchPolling

/// The surroundings that every room shares: clocks, metrics, the log and randomness.
package struct Environment: Sendable {
    /// The local clock.
    package let time: any TimeSource
    /// The local clock, corrected by what is known of the server's.
    package let clock: ServerClock
    package let metrics: AgentMetrics
    package let logger: Logger
    /// A random number in `0 ..< 1`.
    package let random: @Sendable () -> Double

    package init(
        time: any TimeSource,
        clock: ServerClock,
        metrics: AgentMetrics,
        logger: Logger,
        random: @escaping @Sendable () -> Double
    ) {
        self.time = time
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        self.random = random
    }
}

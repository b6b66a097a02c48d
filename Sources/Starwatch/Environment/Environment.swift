package import Logging
import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTransport

/// The surroundings of the agent, for every part of it: the clocks, the database, the metrics, the log and randomness.
package struct Environment: Sendable {
    /// The local clock.
    package let time: any TimeSource
    /// The local clock, corrected by the known offset of the server's clock.
    package let clock: ServerClock
    package let store: Store
    package let metrics: AgentMetrics
    package let logger: Logger
    /// Source of random numbers in `0 ..< 1`.
    package let random: @Sendable () -> Double
}

extension RandomID {
    /// Returns the id of one pass of a service, used in logs, stored rows, exemplars and sink headers.
    static func runID() -> String { "run_" + Hex.encode(bytes(8)) }

    /// Returns the id of the run that delivers a notification. It is known as soon as the notification's id is.
    static func runID(of notification: String) -> String { "run_" + notification.dropFirst("ntf_".count).prefix(16) }

    /// Returns the id of a notification, which is the same for every retry.
    static func notificationID() -> String { "ntf_" + Hex.encode(bytes(16)) }

    /// Returns the id of a callback event, which is the same for every try.
    static func eventID() -> String { "evt_" + Hex.encode(bytes(8)) }

    /// Returns an unguessable shortlink with 128 random bits.
    static func shortlink() -> Shortlink? { Shortlink(Hex.encode(bytes(16))) }
}

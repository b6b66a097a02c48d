import StarwatchCore
import StarwatchTransport

extension RandomID {
    /// Returns the id of one pass of a service, used in logs, stored rows, exemplars and sink headers.
    static func runID() -> String { "run_" + Hex.encode(bytes(8)) }

    /// Returns the id of a notification, which is the same for every retry.
    static func notificationID() -> String { "ntf_" + Hex.encode(bytes(16)) }

    /// Returns the id of a callback event, which is the same for every try.
    static func eventID() -> String { "evt_" + Hex.encode(bytes(8)) }

    /// Returns an unguessable shortlink with 128 random bits.
    static func shortlink() -> Shortlink? { Shortlink(Hex.encode(bytes(16))) }
}

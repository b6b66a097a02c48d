import StarwatchCore
import StarwatchTransport

extension RandomID {
    /// The id of one pass of a service: the same in logs, stored rows, exemplars and sink headers.
    static func runID() -> String { "run_" + Hex.encode(bytes(8)) }

    /// The id of a notification, which stays through every retry.
    static func notificationID() -> String { "ntf_" + Hex.encode(bytes(16)) }

    /// The id of an event for a callback, which stays through every try.
    static func eventID() -> String { "evt_" + Hex.encode(bytes(8)) }

    /// A shortlink that nobody guesses: 128 random bits.
    static func shortlink() -> Shortlink? { Shortlink(Hex.encode(bytes(16))) }
}

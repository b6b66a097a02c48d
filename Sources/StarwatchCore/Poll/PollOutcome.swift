/// The outcome of a cycle that reached the API.
public enum PollOutcome: String, Sendable, CaseIterable, Codable {
    /// New rows were stored.
    case changed
    /// The server had nothing new.
    case unchanged
    /// The first cycle found the starting cursor and announced nothing.
    case bootstrapped
    /// The server asked for a wait that is too long for the cycle. A later cycle continues.
    case deferred
    case failed
    /// The agent stopped, or the identity, its stars or its preferences changed. A later cycle continues.
    case cancelled
}

/// The times of the last cycles of a poll by the local clock; `nil` if there is none.
package struct CycleTimes: Sendable, Hashable {
    /// The start of the last one that asked the server.
    package var attempted: Timestamp?
    /// The end of the last one that succeeded.
    package var succeeded: Timestamp?

    package init(attempted: Timestamp? = nil, succeeded: Timestamp? = nil) {
        (self.attempted, self.succeeded) = (attempted, succeeded)
    }
}

/// The reason for skipping a cycle. A skip is neither an attempt nor a failure.
public enum SkipReason: String, Sendable, CaseIterable, Codable {
    case noIdentity = "no_identity"
    case noStars = "no_stars"
    case optedOut = "opted_out"
    case backpressure
    case throttled
    case circuitOpen = "circuit_open"
    /// The server had no endpoint for the poll at the last attempt.
    case endpointMissing = "endpoint_missing"
    case noToken = "no_token"
    case overlap

    /// The reason as a phrase for a person.
    public var phrase: String {
        switch self {
        case .noIdentity: "no identity is signed in"
        case .noStars: "the identity has no stars"
        case .optedOut: "it is switched off"
        case .backpressure: "the outbox is nearly full"
        case .throttled: "waiting for the rate limit"
        case .circuitOpen: "the server failed repeatedly, so requests pause"
        case .endpointMissing: "the server has no endpoint for it"
        case .noToken: "there is no token"
        case .overlap: "the previous run was still in progress"
        }
    }
}

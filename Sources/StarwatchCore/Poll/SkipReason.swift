/// The reason for skipping a cycle. A skip is neither an attempt nor a failure.
public enum SkipReason: String, Sendable, CaseIterable, Codable {
    case noIdentity = "no_identity"
    case noStars = "no_stars"
    case optedOut = "opted_out"
    case backpressure
    case throttled
    case circuitOpen = "circuit_open"
    case noToken = "no_token"
    case overlap

    /// The reason as a phrase for a person.
    public var phrase: String {
        switch self {
        case .noIdentity: "no identity is signed in"
        case .noStars: "the identity has no stars"
        case .optedOut: "the person opted out"
        case .backpressure: "the outbox is nearly full"
        case .throttled: "waiting for the rate limit"
        case .circuitOpen: "the server failed repeatedly, so requests pause"
        case .noToken: "there is no token"
        case .overlap: "the previous run was still in progress"
        }
    }
}

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
}

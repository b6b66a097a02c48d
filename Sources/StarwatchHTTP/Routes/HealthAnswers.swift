/// The body of `/-/ready`.
struct ReadyAnswer: Sendable, Codable {
    var ready: Bool
    /// Left out when ready.
    var reasons: [String]?
}

/// The body of `/-/healthy`.
struct HealthyAnswer: Sendable, Codable {
    var healthy: Bool
}

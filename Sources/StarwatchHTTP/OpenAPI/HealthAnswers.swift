/// Whether the agent is ready.
struct ReadyAnswer: Sendable, Codable {
    var ready: Bool
    /// The reasons why it is not; `nil` when ready.
    var reasons: [String]?
    /// The state of the check of the database's pages while the agent runs; `nil` if the database was closed in good order.
    var databaseCheck: String?
}

/// Whether local work progresses.
struct HealthyAnswer: Sendable, Codable {
    var healthy: Bool
}

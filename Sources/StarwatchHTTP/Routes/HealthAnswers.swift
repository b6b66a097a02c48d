/// The body of `/-/ready`.
struct ReadyAnswer: Sendable, Codable {
    var ready: Bool
    /// Left out when ready.
    var reasons: [String]?
    /// The state of the check of the database's pages. Left out when it is not needed.
    var databaseCheck: String?

    enum CodingKeys: String, CodingKey {
        case ready, reasons
        case databaseCheck = "database_check"
    }
}

/// The body of `/-/healthy`.
struct HealthyAnswer: Sendable, Codable {
    var healthy: Bool
}

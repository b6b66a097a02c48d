/// A release of some software, as the feed has it.
struct Release: Codable, Sendable, Hashable {
    var version: String
    /// ISO 8601, in UTC.
    var published: String

    /// Later is greater.
    var mark: String { "\(published) \(version)" }
}

/// What the server answers.
struct ReleaseFeed: Codable, Sendable, Hashable {
    var releases: [Release]
}

/// Release of some software, in the feed's JSON.
struct Release: Codable, Sendable, Hashable {
    var version: String
    /// ISO 8601, in UTC.
    var published: String

    /// Watermark, which rises with time.
    var mark: String { "\(published) \(version)" }
}

/// Response of the server.
struct ReleaseFeed: Codable, Sendable, Hashable {
    var releases: [Release]
}

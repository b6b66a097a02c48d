/// Result of a manual fetch of a digest's content.
package struct DigestFetchReport: Sendable, Codable, Hashable {
    package var digest: String
    package var outcome: DigestPrefetchOutcome
    /// The time at which the present content was last confirmed; `nil` if there is none.
    package var contentAt: String?

    enum CodingKeys: String, CodingKey {
        case digest, outcome
        case contentAt = "content_at"
    }

    /// `true` if the source has just delivered or confirmed the content.
    package var isFresh: Bool { outcome == .fetched || outcome == .notModified }
}

/// Result of showing a digest manually.
package struct DigestShowReport: Sendable, Codable, Hashable {
    package var digest: String
    /// The id, `ntf_…`, that `starwatch notifications show` takes.
    package var notificationID: String
    /// `cached` or `fallback`.
    package var text: String
    /// The time at which the shown content was last confirmed; `nil` for the fixed text.
    package var contentAt: String?
    /// The state, as for notifications; `open` while a sink does not have it yet.
    package var state: String

    enum CodingKeys: String, CodingKey {
        case digest
        case notificationID = "notification_id"
        case text
        case contentAt = "content_at"
        case state
    }
}

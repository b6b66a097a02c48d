/// How a digest's content was fetched, by hand.
package struct DigestFetchReport: Sendable, Codable, Hashable {
    package var digest: String
    package var outcome: DigestPrefetchOutcome
    /// Since when the content that there is now is known to hold; `nil`: there is none.
    package var contentAt: String?

    enum CodingKeys: String, CodingKey {
        case digest, outcome
        case contentAt = "content_at"
    }

    /// Whether there is content that the source gave or confirmed just now.
    package var isFresh: Bool { outcome == .fetched || outcome == .notModified }
}

/// What was shown of a digest, by hand.
package struct DigestShowReport: Sendable, Codable, Hashable {
    package var digest: String
    /// `ntf_…`: as `starwatch notifications show` takes it.
    package var notificationID: String
    /// `cached` or `fallback`.
    package var text: String
    /// Since when the content that is shown is known to hold; `nil` for the fixed text.
    package var contentAt: String?
    /// As of notifications; `open` while a sink does not have it yet.
    package var state: String

    enum CodingKeys: String, CodingKey {
        case digest
        case notificationID = "notification_id"
        case text
        case contentAt = "content_at"
        case state
    }
}

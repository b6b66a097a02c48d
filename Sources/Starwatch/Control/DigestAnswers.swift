/// The result of fetching a digest's content by command.
package struct DigestFetchReport: Sendable, Codable, Hashable {
    package var digest: String
    package var outcome: DigestPrefetchOutcome
    /// Time at which the stored content was last confirmed; `nil` if there is none.
    package var contentAt: String?

    enum CodingKeys: String, CodingKey {
        case digest, outcome
        case contentAt = "content_at"
    }

    /// Whether the source has just provided or confirmed the content.
    package var isFresh: Bool { outcome == .fetched || outcome == .notModified }
}

/// The result of showing a digest by command.
package struct DigestShowReport: Sendable, Codable, Hashable {
    package var digest: String
    /// The notification's id, `ntf_…`.
    package var notificationID: String
    /// `cached` or `fallback`.
    package var text: String
    /// Time at which the shown content was last confirmed; `nil` for the fallback.
    package var contentAt: String?
    /// The notification's state; `open` until every sink has it.
    package var state: String

    enum CodingKeys: String, CodingKey {
        case digest
        case notificationID = "notification_id"
        case text
        case contentAt = "content_at"
        case state
    }
}

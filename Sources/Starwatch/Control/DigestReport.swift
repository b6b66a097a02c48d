package import StarwatchCore
import StarwatchStore

/// A digest's past and future occurrences, for its operator.
package struct DigestReport: Sendable, Codable, Hashable {
    package struct Occurrence: Sendable, Codable, Hashable {
        package var slot: String
        package var fireAt: TimeText
        /// `planned` until it is stored, then a value of the label in `starwatch_digest_deliveries_total`.
        package var status: String
        /// `fresh`, `cached` or `fallback`; `nil` if it is not armed.
        package var text: String?
        /// `none`, `started`, `succeeded` or `failed`.
        package var fetch: String
        package var errorCode: String?
    }

    package var name: String
    package var timezone: String
    package var mode: String
    /// Time at which its content was last confirmed; `nil` if there is none.
    package var contentAt: TimeText?
    /// The occurrences of the last and the next day, in order.
    package var occurrences: [Occurrence]
}

/// The digests in the order of the configuration.
package struct DigestListing: Sendable, Codable {
    package var digests: [DigestReport]
}

/// The result of fetching a digest's content by command.
package struct DigestFetchReport: Sendable, Codable, Hashable {
    package var digest: String
    /// A value of the label in `starwatch_digest_prefetches_total`.
    package var outcome: DigestPrefetchOutcome
    /// Time at which the stored content was last confirmed; `nil` if there is none.
    package var contentAt: TimeText?

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
    package var contentAt: TimeText?
    /// The notification's state; `open` until every sink has it.
    package var state: String
}

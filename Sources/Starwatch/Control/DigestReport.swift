import StarwatchCore
import StarwatchStore

/// A digest's past and future occurrences, for its operator.
package struct DigestReport: Sendable, Codable, Hashable {
    /// An occurrence of the digest.
    package struct Occurrence: Sendable, Codable, Hashable {
        package var slot: String
        package var fireAt: String
        /// `planned` until it is stored, then a value of the label in `starwatch_digest_deliveries_total`.
        package var status: String
        /// `fresh`, `cached` or `fallback`; `nil` if it is not armed.
        package var text: String?
        /// `none`, `started`, `succeeded` or `failed`.
        package var fetch: String
        package var errorCode: String?

        enum CodingKeys: String, CodingKey {
            case slot
            case fireAt = "fire_at"
            case status, text, fetch
            case errorCode = "error_code"
        }
    }

    package var name: String
    package var timezone: String
    package var mode: String
    /// Time at which its content was last confirmed; `nil` if there is none.
    package var contentAt: String?
    /// The occurrences of the last and the next day, in order.
    package var occurrences: [Occurrence]

    enum CodingKeys: String, CodingKey {
        case name, timezone, mode
        case contentAt = "content_at"
        case occurrences
    }
}

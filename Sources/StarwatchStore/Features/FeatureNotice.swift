package import StarwatchCore

/// A notice of a new feature that an account is still to get.
package struct FeatureNotice: Sendable, Hashable {
    package let account: DID
    package let feature: String
    /// The notification's id, `ntf_…`: made with the notice, so that every try carries the same.
    package let token: String
    /// The sinks that have it, or will never take it.
    package let sinksDone: Set<String>
    /// How often it was begun.
    package let attempts: Int
    package let createdAt: Timestamp
}

package import StarwatchCore

/// A notice of a new feature that an account is still to get.
package struct FeatureNotice: Sendable, Hashable {
    package let account: DID
    package let feature: String
    /// The notification's id, `ntf_…`: made with the notice.
    package let token: String
    package let createdAt: Timestamp
}

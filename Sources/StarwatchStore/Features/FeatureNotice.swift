package import StarwatchCore

/// A pending notice of a new feature for one account.
package struct FeatureNotice: Sendable, Hashable {
    package let account: DID
    package let feature: String
    /// The notification's id, `ntf_…`, created with the notice.
    package let token: String
    package let createdAt: Timestamp
}

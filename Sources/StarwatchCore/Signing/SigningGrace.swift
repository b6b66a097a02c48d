/// The rule for the former keys when a new one becomes active (R-SEC-04).
package struct SigningGrace: Sendable, Hashable {
    /// The time after which the former keys are destroyed.
    package let duration: Duration
    /// Whether the former keys can sign until then, if the server refuses the new one.
    package let canSign: Bool

    /// 7 days, in which the server can get to know the new key.
    package static let normal = SigningGrace(duration: .seconds(7 * 86_400), canSign: true)
    /// 1 hour, in which the server still accepts tokens that were signed before. The former keys sign nothing more.
    package static let emergency = SigningGrace(duration: .seconds(3600), canSign: false)
}

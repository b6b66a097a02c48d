package import StarwatchCore

/// A source of stored signing keys.
package protocol SigningKeySource: Sendable {
    /// A counter of changes. As long as it stays, the keys of an account stay.
    var generation: UInt64 { get }

    /// The keys that can sign for an account, the newest first.
    ///
    /// - Throws: ``TokenError/signingKeysUnreadable``.
    func keys(of account: DID) async throws(TokenError) -> [SigningKey]
}

package import StarwatchCore

/// The result of a request to remove an account.
package enum AccountRemoval: Sendable, Hashable {
    /// The account is marked for deletion since that time.
    case removed(at: Timestamp)
    /// The account is signed in, so it stays.
    case active
    /// The database contains nothing of the account.
    case unknown
}

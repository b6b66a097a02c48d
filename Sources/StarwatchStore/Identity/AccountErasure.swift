/// The result of erasing an account.
package enum AccountErasure: Sendable, Hashable {
    /// The account is erased. `isPurged` is `false` if another program reads the database, so that copies of the deleted
    /// rows stay in its write-ahead log until the next cleanup after that.
    case erased(isPurged: Bool)
    /// The account is the active identity. Nothing was erased.
    case active
    /// The database has nothing of the account.
    case unknown
}

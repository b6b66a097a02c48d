/// The result of erasing an account.
package enum AccountErasure: Sendable, Hashable {
    case erased
    /// The account is the active identity. Nothing was erased.
    case active
    /// The database has nothing of the account.
    case unknown
}

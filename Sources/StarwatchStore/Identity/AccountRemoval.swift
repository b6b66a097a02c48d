package import StarwatchCore

/// What came of asking to remove an account.
package enum AccountRemoval: Sendable, Hashable {
    /// It is marked, since then.
    case removed(at: Timestamp)
    /// It is signed in, so it stays.
    case active
    /// Nothing is stored of it.
    case unknown
}

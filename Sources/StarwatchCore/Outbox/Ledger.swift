/// The books of one stream: what came in and where it went.
///
/// Persisted in the transaction that causes each entry, so that it survives restarts and kills.
public struct Ledger: Sendable, Hashable {
    public var fetched = 0, new = 0, duplicate = 0, rejected = 0
    public var delivered = 0, dead = 0, cancelled = 0, suppressed = 0
    public var evicted = 0, acknowledged = 0

    public init() {}

    /// `fetched = new + duplicate + rejected`; the difference, which must be 0.
    public var fetchedImbalance: Int { fetched - new - duplicate - rejected }

    /// `new = delivered + dead + cancelled + suppressed + pending`; the difference, which must be 0.
    ///
    /// - Parameter pending: Rows that are pending, claimed or an evicted tombstone, counted in the table.
    public func newImbalance(pending: Int) -> Int {
        new - delivered - dead - cancelled - suppressed - pending
    }
}

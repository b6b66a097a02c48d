/// The counters of one stream's rows: how many came in, and how many reached each end.
///
/// The store updates each counter in the transaction that changes the rows, so the counters survive restarts and
/// crashes.
public struct Ledger: Sendable, Hashable {
    public var fetched = 0, new = 0, duplicate = 0, rejected = 0
    public var delivered = 0, dead = 0, cancelled = 0, suppressed = 0
    public var evicted = 0, acknowledged = 0

    public init() {}

    /// The imbalance of `fetched = new + duplicate + rejected`; 0 if the counters are consistent.
    public var fetchedImbalance: Int { fetched - new - duplicate - rejected }

    /// The imbalance of `new = delivered + dead + cancelled + suppressed + pending`; 0 if the counters are consistent.
    ///
    /// - Parameter pending: The number of rows that are pending, claimed or evicted.
    public func newImbalance(pending: Int) -> Int { new - delivered - dead - cancelled - suppressed - pending }
}

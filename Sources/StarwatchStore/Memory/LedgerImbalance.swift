/// The imbalance of the ledgers: sums of absolute differences, which must be 0.
package struct LedgerImbalance: Sendable, Hashable {
    /// `fetched = new + duplicate + rejected`.
    package var fetched = 0
    /// `new = delivered + dead + cancelled + suppressed + pending`.
    package var new = 0

    package init() {}
}

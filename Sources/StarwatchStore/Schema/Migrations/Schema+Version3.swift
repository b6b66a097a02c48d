import GRDB

extension Schema {
    /// The changes of version 3, one constant for each area. The first creates a table again that others use.
    static let version3 = sinkResults + failureReasons + quarantine + version3Stories + ledgerTotals
}

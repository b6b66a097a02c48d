/// The position of a pass over all encrypted rows.
struct ResealPass {
    /// The keys that were retiring when the pass began. They are destroyed at its end. Keys that retire later need
    /// another pass.
    let retiring: Set<Int64>
    /// The number of rows when the pass began.
    let total: Int
    var done = 0
    /// Keys of values that do not open. They are kept.
    var stuck: Set<Int64> = []
    /// The position in ``SealedTable/all``.
    var table = 0
    /// The key of the last row of the table; `nil` at its beginning.
    var last: [SQLValue]?

    var progress: Double { min(0.999, Double(done) / Double(max(1, total))) }
}

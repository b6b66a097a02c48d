/// Encrypted values that do not open, and are left out of what is made from the database.
enum LostValues {
    /// A sentence with advice; `nil` if there are none.
    ///
    /// - Parameter counts: The number of values, by `table.column`.
    static func sentence(_ counts: [String: Int]?) -> String? {
        guard let counts else { return nil }
        let count = counts.values.reduce(0, +)
        let places = counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
        return """
            \(count) encrypted \(count == 1 ? "value" : "values") did not open and \(count == 1 ? "is" : "are") lost: \(places). \
            Changes that were not delivered yet become dead letters; see starwatch outbox list --state dead.
            """
    }
}

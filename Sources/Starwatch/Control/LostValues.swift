/// Encrypted values that do not open, and are left out of what is made from the database.
enum LostValues {
    /// A sentence with advice; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - counts: The number of values, by `table.column`.
    ///   - isHandedOut: Whether another agent gets the rows.
    static func sentence(_ counts: [String: Int]?, isHandedOut: Bool = false) -> String? {
        guard let counts else { return nil }
        let count = counts.values.reduce(0, +)
        let places = counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
        let letters = "dead letters" + (isHandedOut ? " of the agent that imports the account" : "")
        let list = "starwatch outbox list --state dead" + (isHandedOut ? " there" : "")
        return """
            \(count) encrypted \(count == 1 ? "value" : "values") did not open and \(count == 1 ? "is" : "are") lost: \(places). \
            Changes that were not delivered yet become \(letters); see \(list).
            """
    }
}

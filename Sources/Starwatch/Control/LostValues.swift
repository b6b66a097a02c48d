extension [String: Int] {
    /// The values that do not open, by `table.column`, and are left out of what is made from the database, as a sentence
    /// with advice.
    ///
    /// - Parameter isHandedOut: Whether another agent gets the rows.
    func lossSentence(isHandedOut: Bool = false) -> String {
        let count = values.reduce(0, +)
        let places = sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }.joined(separator: ", ")
        let letters = "dead letters" + (isHandedOut ? " of the agent that imports the account" : "")
        let list = "starwatch outbox list --state dead" + (isHandedOut ? " there" : "")
        return """
            \(count) encrypted \(count == 1 ? "value" : "values") did not open and \(count == 1 ? "is" : "are") lost: \(places). \
            Changes that were not delivered yet become \(letters); see \(list).
            """
    }
}

/// The reason why a row is not delivered, where its state does not tell. The raw values are stored.
package enum RowReason: String, Sendable, Codable, CaseIterable {
    /// A stored value of the row does not open, or the text of its notification.
    case unreadable
    /// The operator discarded a finished row for the optional sinks that did not get it.
    case discarded

    /// The reason as a sentence for a person.
    package var sentence: String {
        switch self {
        case .unreadable: "A stored value of it does not open, so it cannot be delivered."
        case .discarded: "It was discarded."
        }
    }
}

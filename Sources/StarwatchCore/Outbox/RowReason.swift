/// The reason why nobody gets a row, where its state does not tell. The raw values are stored.
package enum RowReason: String, Sendable, Codable, CaseIterable {
    /// A stored value of the row does not open, or the text of its notification.
    case unreadable
    /// The operator discarded a finished row for the optional sinks that did not get it.
    case discarded
    /// The account made the claim itself.
    case own
    /// Another poll of the account has the same claim.
    case announced
    /// Its project was unstarred before it was delivered.
    case unstarred
    /// The account opted out before it was delivered.
    case optedOut = "opted_out"

    /// A short phrase for lists.
    package var phrase: String {
        switch self {
        case .unreadable: "unreadable"
        case .discarded: "discarded"
        case .own: "your own claim"
        case .announced: "announced by another poll"
        case .unstarred: "unstarred"
        case .optedOut: "opted out"
        }
    }

    /// One sentence for a person.
    ///
    /// - Parameters:
    ///   - poll: The poll that has the same claim; `nil` if its row is gone.
    ///   - actor: The operator who discarded it; `nil` if it is not known.
    package func sentence(announcedBy poll: String? = nil, discardedBy actor: String? = nil) -> String {
        switch self {
        case .unreadable: "A stored value of it does not open, so it cannot be delivered."
        case .discarded: "It was discarded\(actor.map { " by \($0)" } ?? "")."
        case .own: "Your own claim; set delivery.announce_own: true to be told."
        case .announced: "\(poll.map { "Poll \($0)" } ?? "Another poll") announces the same claim."
        case .unstarred: "Its project was unstarred before it was delivered (starwatch stars)."
        case .optedOut: "The account opted out before it was delivered (starwatch identity opt-out)."
        }
    }
}

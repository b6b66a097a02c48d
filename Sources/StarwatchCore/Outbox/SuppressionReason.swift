/// The reason why a change is stored and not announced, where its state does not tell.
package enum SuppressionReason: String, Sendable, CaseIterable, Codable {
    /// The account made the claim itself.
    case own
    /// Another poll of the account has the same claim.
    case announced

    /// A short phrase for lists.
    package var phrase: String {
        switch self {
        case .own: "your own claim"
        case .announced: "announced by another poll"
        }
    }

    /// One sentence for a person.
    ///
    /// - Parameter poll: The poll that has the same claim; `nil` if its row is gone.
    package func sentence(announcedBy poll: String?) -> String {
        switch self {
        case .own: "Your own claim; set delivery.announce_own: true to be told."
        case .announced: "Already announced by \(poll.map { "poll \($0)" } ?? "another poll")."
        }
    }
}

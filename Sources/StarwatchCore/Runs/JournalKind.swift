/// A kind of journal entry. The raw values are stored and shown.
package enum JournalKind: String, Sendable, Codable, CaseIterable {
    /// An operator changed something.
    case action
    /// A configuration was reloaded or refused.
    case reload
    /// A run of the agent ended.
    case runEnd = "run_end"
}

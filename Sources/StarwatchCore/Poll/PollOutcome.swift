/// The outcome of a cycle that reached the API.
public enum PollOutcome: String, Sendable, CaseIterable, Codable {
    /// New rows were stored.
    case changed
    /// The server had nothing new.
    case unchanged
    /// The first cycle found the starting cursor and announced nothing.
    case bootstrapped
    /// The server asked for a wait that is too long for the cycle. A later cycle continues.
    case deferred
    case failed
    /// The agent stopped, or the identity, its stars or its preferences changed. A later cycle continues.
    case cancelled
}

/// How a cycle that reached the API ended.
public enum PollOutcome: String, Sendable, CaseIterable, Codable {
    /// New rows were stored.
    case changed
    /// The server had nothing new.
    case unchanged
    /// The first run, which stores where to start and notifies of nothing.
    case bootstrapped
    /// The server asked for a wait too long to sit out; the cycle goes on after it.
    case deferred
    case failed
}

/// The order in which rows leave an outbox that exceeds its limit.
public enum EvictionPolicy: String, Sendable, CaseIterable, Codable {
    /// The oldest first.
    case fifo
    /// The newest first.
    case lifo
    /// The lowest priority first, then the oldest.
    case priority
}

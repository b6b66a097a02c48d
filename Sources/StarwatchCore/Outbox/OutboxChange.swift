/// The changes of outbox rows; the `change` label.
public enum OutboxChange: String, Sendable, CaseIterable {
    case inserted, duplicate, rejected, claimed, delivered, acknowledged, retried, dead
    case cancelled, suppressed, evicted, refetched, discarded, cleaned
}

/// The state of an outbox row: `pending → claimed → delivered → acknowledged`, or another final state.
public enum OutboxState: String, Sendable, CaseIterable, Codable {
    case pending
    case claimed
    case delivered
    case acknowledged
    /// Rejected by a sink too often. The row is kept and listed, and can be retried.
    case dead
    /// Dropped after a change of identity.
    case cancelled
    /// Known but never announced: unstarred, opted out, or seen while bootstrapping.
    case suppressed
    /// A tombstone. The row was dropped for lack of room and will be fetched again.
    case evicted

    /// Whether the watermark can pass a row in this state.
    public var isTerminal: Bool {
        switch self {
        case .acknowledged, .dead, .cancelled, .suppressed: true
        case .pending, .claimed, .delivered, .evicted: false
        }
    }

    /// Whether a row in this state will announce its change, or has announced it, so that another poll must not.
    ///
    /// Dead letters count, because they can be retried, and discarded rows, because a person has decided. A tombstone
    /// does not count: its own poll can lose it, and asks again when it is fetched again.
    ///
    /// - Parameter isDecided: Whether the row has a notification or a reason. Of cancelled rows, those that a person
    ///   discarded or a sink accepted have one, and those that went with their identity have none.
    package func announces(isDecided: Bool) -> Bool {
        switch self {
        case .pending, .claimed, .delivered, .acknowledged, .dead: true
        case .cancelled: isDecided
        case .suppressed, .evicted: false
        }
    }
}

/// The changes of outbox rows; the `change` label.
public enum OutboxChange: String, Sendable, CaseIterable {
    case inserted, duplicate, rejected, claimed, delivered, acknowledged, retried, dead
    case cancelled, suppressed, evicted, refetched, discarded, cleaned
}

/// The order in which rows leave an outbox that exceeds its limit.
public enum EvictionPolicy: String, Sendable, CaseIterable, Codable {
    /// The oldest first.
    case fifo
    /// The newest first.
    case lifo
    /// The lowest priority first, then the oldest.
    case priority
}

/// The state of an outbox row. `pending → claimed → delivered → acknowledged`, or one of the ends.
public enum OutboxState: String, Sendable, CaseIterable, Codable {
    case pending
    case claimed
    case delivered
    case acknowledged
    /// Refused by a sink as often as the row may be; kept, listed, and retriable.
    case dead
    /// Dropped because the identity changed.
    case cancelled
    /// Known, but not to be announced: unstarred, opted out, or seen while bootstrapping.
    case suppressed
    /// A tombstone: the row was dropped for room and will be fetched again.
    case evicted

    /// Whether the watermark may pass a row in this state.
    public var isTerminal: Bool {
        switch self {
        case .acknowledged, .dead, .cancelled, .suppressed: true
        case .pending, .claimed, .delivered, .evicted: false
        }
    }
}

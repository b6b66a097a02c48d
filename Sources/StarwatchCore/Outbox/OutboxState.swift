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
    ///   - poll: The poll that announces the same claim; `nil` if none does any more.
    ///   - actor: The operator who discarded it; `nil` if it is not known.
    package func sentence(announcedBy poll: String? = nil, discardedBy actor: String? = nil) -> String {
        switch self {
        case .unreadable: "A stored value of it does not open, so it cannot be delivered."
        case .discarded: "It was discarded\(actor.map { " by \($0)" } ?? "")."
        case .own: "Your own claim; set delivery.announce_own: true to be told."
        case .announced: poll.map { "Poll \($0) announces the same claim." } ?? "Another poll had the same claim."
        case .unstarred: "Its project was unstarred before it was delivered (starwatch stars)."
        case .optedOut: "The account opted out before it was delivered (starwatch identity opt-out)."
        }
    }
}

/// The counters of one stream's rows: how many came in, and how many reached each end.
///
/// The store updates each counter in the transaction that changes the rows, so the counters survive restarts and
/// crashes.
public struct Ledger: Sendable, Hashable {
    public var fetched = 0, new = 0, duplicate = 0, rejected = 0
    public var delivered = 0, dead = 0, cancelled = 0, suppressed = 0
    public var evicted = 0, acknowledged = 0

    public init() {}

    /// The imbalance of `fetched = new + duplicate + rejected`; 0 if the counters are consistent.
    public var fetchedImbalance: Int { fetched - new - duplicate - rejected }

    /// The imbalance of `new = delivered + dead + cancelled + suppressed + pending`; 0 if the counters are consistent.
    ///
    /// - Parameter pending: The number of rows that are pending, claimed or evicted.
    public func newImbalance(pending: Int) -> Int { new - delivered - dead - cancelled - suppressed - pending }
}

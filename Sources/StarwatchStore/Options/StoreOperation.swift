/// The transactions of the store; the `operation` label.
package enum StoreOperation: String, Sendable, CaseIterable {
    case open, pollState = "poll_state", commit, bootstrap, finishCycle = "finish_cycle"
    case identity, stars, server, claim, delivery, acknowledge, watermark
    case evict, edit, read, snapshot, log, digest, retention, checkpoint, lease

    /// Whether a transaction of this kind can change the ``PollState`` or what dispatching and acknowledging depend on.
    var changesPollState: Bool {
        switch self {
        case .pollState, .finishCycle, .read, .snapshot, .log, .digest, .checkpoint, .lease: false
        case .open, .commit, .bootstrap, .identity, .server, .stars, .claim, .delivery, .acknowledge, .watermark,
            .evict, .edit, .retention:
            true
        }
    }

    /// Whether an access of this kind that is for an account writes anything.
    var writes: Bool {
        switch self {
        case .pollState, .read, .snapshot, .checkpoint: false
        default: true
        }
    }

    /// Whether a transaction of this kind can change a snapshot.
    var changesSnapshot: Bool {
        switch self {
        case .log, .digest, .lease: false
        default: true
        }
    }
}

/// The moment of an access; see ``StoreOptions/interrupt``.
package enum StoreMoment: Sendable, CaseIterable {
    /// Nothing has been done.
    case begun
    /// The transaction is committed, and the caller does not know it yet.
    case ended
}

import StarwatchCore
import Synchronization

/// What was last read for each stream, for as long as nothing was written that would change it.
///
/// Filled and emptied on the store's queue, in the order of the transactions; asked from anywhere.
final class PollMemory: Sendable {
    private struct Entry {
        let maxUndelivered: Int
        let state: PollState
    }

    private let entries = Mutex<[StreamKey: Entry]>([:])

    func remember(_ state: PollState, of stream: StreamKey, maxUndelivered: Int) {
        entries.withLock { $0[stream] = Entry(maxUndelivered: maxUndelivered, state: state) }
    }

    func state(of stream: StreamKey, maxUndelivered: Int) -> PollState? {
        entries.withLock { entries in
            guard let entry = entries[stream], entry.maxUndelivered == maxUndelivered else { return nil }
            return entry.state
        }
    }

    func forget() {
        entries.withLock { $0.removeAll(keepingCapacity: true) }
    }
}

extension StoreOperation {
    /// Whether a transaction of this kind may change what a cycle has to know before it asks the server, or what
    /// dispatching and acknowledging go by: ``Store/revision`` follows it too.
    var changesPollState: Bool {
        switch self {
        case .pollState, .finishCycle, .read, .snapshot, .log, .digest, .checkpoint: false
        case .open, .commit, .bootstrap, .identity, .server, .stars, .claim, .delivery, .acknowledge, .watermark,
            .evict, .edit,
            .retention:
            true
        }
    }
}

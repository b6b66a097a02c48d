package import StarwatchCore
import Synchronization

/// A part of the agent that uses the database.
package enum StoreUser: Sendable, Hashable {
    case accounts, acknowledgement, callbacks, canary, delivery, digests, keys, retention
    case poll(PollName)
}

/// The health of the database, judged by the last error and by the duration of the current access.
package final class StoreHealth: Sendable {
    private let lastFailure = Mutex<StoreErrorKind?>(nil)
    /// The kind of the last error, whatever has succeeded since.
    private let lastKind = Mutex<StoreErrorKind?>(nil)
    private let busySince = Mutex<ContinuousClock.Instant?>(nil)
    /// The time after which an access is slow.
    package let patience: Duration
    private let failing = Mutex<Set<StoreUser>>([])

    init(patience: Duration) { self.patience = patience }

    /// The last error since which no probe has succeeded; `nil` if the store is healthy.
    package var failure: StoreErrorKind? { lastFailure.withLock { $0 } }

    /// The kind of the error that keeps the store, or some part of the agent, from working; `nil` if all works.
    package var fault: StoreErrorKind? { failure ?? (failsSomePart ? lastKind.withLock { $0 } ?? .io : nil) }

    /// Whether the last work of some part failed by the database. Probes do not end this: they say nothing about the data
    /// that the part needs.
    package var failsSomePart: Bool { failing.withLock { !$0.isEmpty } }

    /// Records the end of a part's work. Only the part's own success ends its failure.
    package func ended(_ part: StoreUser, failed: Bool) {
        failing.withLock { failing in
            if failed { failing.insert(part) } else if !failing.isEmpty { failing.remove(part) }
        }
    }

    /// Whether the current access has taken longer than ``patience``.
    package var isSlow: Bool { busySince.withLock { $0.map { ContinuousClock.now - $0 > patience } ?? false } }

    func begin(at start: ContinuousClock.Instant) { busySince.withLock { $0 = start } }

    func end() { busySince.withLock { $0 = nil } }

    package func failed(_ kind: StoreErrorKind) {
        lastKind.withLock { $0 = kind }
        // Damage outranks later errors.
        lastFailure.withLock { last in if last != .corrupt { last = kind } }
    }

    /// Records that a probe was written.
    func recovered() {
        lastFailure.withLock { $0 = nil }
        // The parts have failed for this reason alone. Some have no work for long, and so no success.
        guard lastKind.withLock({ $0 == .full }) else { return }
        failing.withLock { $0.removeAll() }
    }
}

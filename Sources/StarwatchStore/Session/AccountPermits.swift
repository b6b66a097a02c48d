import StarwatchCore
import Synchronization

/// Whether a notification of an account can be handed to a sink.
package enum AttemptPermit: Sendable, Hashable {
    /// The caller ends the attempt by ``StoreDeliveries/endAttempt(for:)``, after its result is stored.
    case given
    /// The account leaves for another agent, or will stay after all.
    case leaving
    /// The account's lease was claimed here and can have been lost. Another process can work for it.
    case lost
}

/// The accounts for which this process can send: not those whose leases it can have lost, nor those that leave for another
/// agent.
///
/// The store's queue changes it; any thread asks it before it sends.
final class AccountPermits: Sendable {
    /// A lease with the time for which it lets this process send.
    private struct Hold {
        let lease: AccountLease
        var term: LeaseTerm
        /// Whether requests from before the lease, of an interrupted owner or from before the account was added, still wait to be
        /// counted.
        var hasUncounted: Bool
    }

    private struct State {
        var holds: [DID: Hold] = [:]
        /// The accounts that wait to be handed out.
        var leaving: Set<DID> = []
        /// The number of notifications of each account that a sink has now.
        var attempts: [DID: Int] = [:]

        /// An account without a lease is this process's alone.
        func canAsk(for account: DID, at boottime: Duration) -> Bool {
            holds[account]?.term.isOver(at: boottime) != true
        }
    }

    private let state = Mutex(State())

    /// The lease that was claimed here and not released; `nil` if there is none.
    subscript(account: DID) -> AccountLease? { state.withLock { $0.holds[account]?.lease } }

    var leases: Int { state.withLock { $0.holds.count } }

    func hold(_ lease: AccountLease, for term: LeaseTerm, hasUncounted: Bool) {
        let hold = Hold(lease: lease, term: term, hasUncounted: hasUncounted)
        state.withLock { $0.holds[lease.account] = hold }
    }

    /// Returns once whether requests from before the lease can be uncounted. The caller then counts them.
    ///
    /// - Returns: `nil` if no lease is held.
    func takeUncounted(of account: DID) -> Bool? {
        state.withLock { state in
            defer { state.holds[account]?.hasUncounted = false }
            return state.holds[account]?.hasUncounted
        }
    }

    /// Begins a new term of leases that are held.
    func renew(_ leases: [AccountLease], for term: LeaseTerm) {
        state.withLock { state in
            for lease in leases where state.holds[lease.account]?.lease == lease {
                state.holds[lease.account]?.term = term
            }
        }
    }

    func end(_ lease: AccountLease) {
        state.withLock { state in
            if state.holds[lease.account]?.lease == lease { state.holds[lease.account] = nil }
        }
    }

    /// Whether a request can be sent for an account.
    func canAsk(for account: DID, at boottime: Duration) -> Bool {
        state.withLock { $0.canAsk(for: account, at: boottime) }
    }

    // MARK: - Notifications

    func isLeaving(_ account: DID) -> Bool { state.withLock { $0.leaving.contains(account) } }

    func beginAttempt(for account: DID, at boottime: Duration) -> AttemptPermit {
        state.withLock { state in
            guard state.canAsk(for: account, at: boottime) else { return .lost }
            guard !state.leaving.contains(account) else { return .leaving }
            state.attempts[account, default: 0] += 1
            return .given
        }
    }

    func endAttempt(for account: DID) {
        state.withLock { state in
            let others = state.attempts[account, default: 1] - 1
            state.attempts[account] = others > 0 ? others : nil
        }
    }

    /// Lets no further attempt begin for an account.
    ///
    /// - Returns: Whether no sink has a notification of it now.
    func leave(_ account: DID) -> Bool {
        state.withLock { state in
            state.leaving.insert(account)
            return state.attempts[account] == nil
        }
    }

    /// Ends ``leave(_:)``.
    func stay(_ account: DID) { state.withLock { _ = $0.leaving.remove(account) } }
}

import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization

/// The server of the accounts, as their claims see it.
///
/// While it takes no requests, only accounts with changes to deliver are claimed. A server that must be probed is probed by the
/// visit of one account.
final class VisitedServer: Sendable {
    /// The prober is the account whose visit probes; `nil` if none does.
    private typealias State = (readiness: ServerReadiness, waits: ServerWaits, awaited: Duration, prober: DID?)

    private let gate: Gate
    /// Whether visits have other work than polls and delivery.
    private let hasOtherWork: Bool
    private let state = Mutex<State>((.ready, ServerWaits(), .zero, nil))

    init(gate: Gate, options: AgentOptions) {
        self.gate = gate
        hasOtherWork = options.delivery.noticesStaleness(forMany: true) || !options.digests.isEmpty
    }

    /// Looks whether the server takes requests.
    func look(now: Timestamp) async throws(StoreError) {
        let readiness = try await gate.readiness(now: now)
        state.withLock { state in
            let isProbed = readiness == .probe && state.prober != nil
            state.readiness = isProbed ? .waits(until: nil) : readiness
            state.waits.note(state.readiness, at: now)
        }
    }

    /// The work that can be done now.
    var work: VisitWork {
        if case .waits = state.withLock({ $0.readiness }), !hasOtherWork { .delivery } else { .all }
    }

    /// The end of the server's wait; `nil` if there is none, or it is not known.
    var waitsUntil: Timestamp? {
        if case .waits(let until) = state.withLock({ $0.readiness }) { until } else { nil }
    }

    /// The number of accounts to claim.
    func limit(_ batch: Int) -> Int { state.withLock { $0.readiness == .probe ? 1 : batch } }

    func claimed(_ leases: [AccountLease]) {
        state.withLock { state in if state.readiness == .probe { state.prober = leases.first?.account } }
    }

    /// Notes that a visit polls no more.
    ///
    /// - Returns: Whether it has probed the server, so that others wait for its result.
    func hasPolled(_ account: DID) -> Bool {
        state.withLock { state in
            guard state.prober == account else { return false }
            state.prober = nil
            return true
        }
    }

    /// The round that accounts have to wait for.
    ///
    /// - Parameter wait: The time that the longest waiting account has waited.
    func awaited(_ round: Duration, wait: Duration) -> Duration {
        state.withLock { state in
            state.awaited = FleetRound.awaited(state.awaited, now: round, wait: wait)
            return state.awaited
        }
    }

    /// The time at which an account that was due at `time` would have become due without the waits of the server.
    func due(since time: Timestamp, now: Timestamp) -> Timestamp {
        min(time + state.withLock { $0.waits.waited(since: time, now: now) }, max(time, now))
    }
}

import StarwatchCore
import StarwatchStore

/// The accounts that send requests through a gate, and the limit of all together. Only the gate uses it.
final class AccountWindows {
    private let limits: GateLimits
    /// The store; `nil`: nothing survives the process.
    let store: Store?
    /// The requests of all accounts together; `nil`: no common limit.
    var budget: ServerRate?
    /// The only window; `nil` if each account has its own.
    private let common: AccountRequests?
    /// The accounts that somebody sends requests of. Each is there once.
    private var atWork: [DID: AccountRequests] = [:]
    /// The requests that the gauges show.
    var last: AccountRequests?

    init(limits: GateLimits, store: Store?) {
        (self.limits, self.store) = (limits, store)
        budget = limits.requestsPerSecond.map { ServerRate(perSecond: $0) }
        common = limits.areOfAccounts ? nil : AccountRequests(of: nil, limits: limits, store: store)
    }

    /// The requests that the window of the gauges has left.
    func room(at now: Timestamp) -> Int { last?.change { $0.room(at: now) } ?? limits.requestsPerMinute }

    func enter(_ account: DID?) -> Sender {
        guard common == nil, let account else { return Sender(account: account, requests: common).joined() }
        if let known = atWork[account] { return Sender(account: account, requests: known).joined() }
        let requests = AccountRequests(of: account, limits: limits, store: store)
        atWork[account] = requests
        return Sender(account: account, requests: requests)
    }

    /// Stores what was sent, after the last use.
    ///
    /// An operator's request can have gone by a lease whose visit has not begun. That visit must find it.
    func leave(_ sender: Sender, now: Timestamp) {
        guard let requests = sender.requests, requests.leave(), let account = requests.account else { return }
        atWork[account] = nil
        requests.record(now: now)
        if last === requests { last = nil }
    }

    /// Changes each window.
    func changeAll(_ change: (inout AccountWindow) -> Void) {
        common?.change(change)
        for requests in atWork.values { requests.change(change) }
    }

    /// Stores the windows that match, if an earlier one of their account is stored: that of a removed account is not.
    func storeKnown(now: Timestamp, where matches: @Sendable (AccountWindow) -> Bool) async {
        // The same order in every process, so that a simulated run can be replayed.
        for account in atWork.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            // It can have left during the write of another one.
            guard let requests = atWork[account], requests.change({ matches($0) }) ?? false else { continue }
            // Nobody reads a window from the store while it is written.
            let sender = Sender(account: account, requests: requests).joined()
            _ = try? await requests.store(now: now, isKnown: true)
            leave(sender, now: now)
        }
    }
}

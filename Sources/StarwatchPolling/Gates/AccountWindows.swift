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
    /// The accounts with the number of their users, in the order in which they came: a simulated run can be replayed.
    private var atWork: [(requests: AccountRequests, users: Int)] = []
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
        guard common == nil, let account else { return Sender(account: account, requests: common) }
        let known = atWork.firstIndex { $0.requests.account == account }
        if known == nil { atWork.append((AccountRequests(of: account, limits: limits, store: store), users: 0)) }
        let place = known ?? atWork.count - 1
        atWork[place].users += 1
        return Sender(account: account, requests: atWork[place].requests)
    }

    /// Stores what was sent, after the last use.
    ///
    /// An operator's request can have gone by a lease whose visit has not begun. That visit must find it.
    func leave(_ sender: Sender, now: Timestamp) {
        guard let requests = sender.requests, let place = atWork.firstIndex(where: { $0.requests === requests }) else {
            return
        }
        atWork[place].users -= 1
        guard atWork[place].users == 0 else { return }
        atWork.remove(at: place)
        requests.record(now: now)
        if last === requests { last = nil }
    }

    /// Changes each window.
    func changeAll(_ change: (inout AccountWindow) -> Void) {
        common?.change(change)
        for (requests, _) in atWork { requests.change(change) }
    }

    /// Stores the windows that match, if an earlier one of their account is stored: that of a removed account is not.
    func storeKnown(now: Timestamp, where matches: @Sendable (AccountWindow) -> Bool) async {
        for (requests, _) in atWork where requests.change({ matches($0) }) ?? false {
            _ = try? await requests.store(now: now, isKnown: true)
        }
    }
}

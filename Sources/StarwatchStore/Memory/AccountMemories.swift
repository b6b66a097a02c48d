import StarwatchCore
import Synchronization

/// The memory of the accounts at work, with their writes that can wait.
///
/// Any thread reads it. The store's queue changes it in the order of the transactions, except for attempts, late writes, and
/// ``rest(_:)``: nothing relies on what an account without a lease is remembered by.
final class AccountMemories: Sendable {
    private struct State {
        var accounts: [DID: AccountMemory] = [:]
        var late = LateWrites()

        mutating func changeAll(_ change: (inout AccountMemory) -> Void) {
            for index in accounts.values.indices { change(&accounts.values[index]) }
        }
    }

    private let state = Mutex(State())

    /// Looks at what is remembered of an account.
    func look<Value: Sendable>(at account: DID, _ look: (AccountMemory) -> Value) -> Value {
        state.withLock { look($0.accounts[account] ?? AccountMemory()) }
    }

    /// Changes what is remembered of an account.
    @discardableResult
    func change<Value: Sendable>(_ account: DID, _ change: (inout AccountMemory) -> Value) -> Value {
        state.withLock { state in
            // One look into the dictionary: with a default it would take two.
            func changed(_ memory: inout AccountMemory?) -> Value {
                var present = memory.take() ?? AccountMemory()
                defer { memory = present.isEmpty ? nil : present }
                return change(&present)
            }
            return changed(&state.accounts[account])
        }
    }

    /// The lease of an account that was claimed here and not released; `nil` if there is none.
    func lease(of account: DID) -> AccountLease? { look(at: account, \.lease) }

    /// The leases that were claimed here and not released, in no order.
    var leases: [AccountLease] { state.withLock { $0.accounts.values.compactMap(\.lease) } }

    /// Leases whose terms did not begin after `term`.
    func leases(toRenewFor term: LeaseTerm) -> [AccountLease] {
        state.withLock { $0.accounts.values.compactMap { $0.lease(toRenewFor: term) } }
    }

    /// Forgets what a write for an account can have changed; `nil` for a write for all accounts, which can delete streams.
    func forgetStates(of account: DID?) {
        if let account { return change(account) { $0.forgetStates() } }
        state.withLock { state in
            state.changeAll { memory in
                memory.forgetStates()
                memory.forgetIDs()
            }
        }
    }

    /// Forgets the row ids of all streams.
    func forgetIDs() { state.withLock { $0.changeAll { $0.forgetIDs() } } }

    /// Forgets what the visits of accounts knew.
    func rest(_ ended: Set<DID>) { for account in ended { change(account) { $0.rest() } } }

    // MARK: - Late writes

    /// Whether nothing waits to be written.
    var isWritten: Bool { state.withLock(\.late.isEmpty) }

    /// Whether an access for an account must find late writes stored; `nil`: an access for all.
    func mustWrite(for account: DID?) -> Bool { state.withLock { $0.late.concern(account) } }

    /// Notes the end of a cycle without changes.
    ///
    /// - Returns: Whether it is the first since ``takeLate()``, so that the caller must have them stored.
    func write(later cycle: CycleRecord) -> Bool {
        state.withLock { state in
            // An account without a lease has no times that a claim has read.
            if !state.accounts.isEmpty { state.accounts[cycle.stream.account]?.forgetTimes() }
            return state.late.add(cycle)
        }
    }

    /// - Returns: As of ``write(later:)``.
    func write(later window: LateWrites.SpentWindow, of account: DID) -> Bool {
        state.withLock { state in
            _ = state.accounts[account]?.takeWindow()
            return state.late.add(window, of: account)
        }
    }

    func takeLate() -> LateWrites { state.withLock { $0.late.take() } }

    /// Keeps what could not be stored.
    func putBack(_ late: LateWrites) { state.withLock { $0.late.putBack(late) } }
}

/// Writes that can wait for others: the ends of unchanged cycles, one for each stream, and the request windows of accounts whose
/// visits end.
///
/// Storing each cycle on its own takes 18 µs of its CPU time (`Benchmarks/poll cycles`, 2 cores AMD EPYC).
struct LateWrites: Sendable {
    private(set) var cycles: [StreamKey: CycleRecord] = [:]
    private(set) var windows: [DID: SpentWindow] = [:]

    /// A request window, and the time of the account's last counted request.
    typealias SpentWindow = (bytes: [UInt8], spentAt: Timestamp)

    var isEmpty: Bool { cycles.isEmpty && windows.isEmpty }

    fileprivate func concern(_ account: DID?) -> Bool {
        guard let account else { return !isEmpty }
        return windows[account] != nil || cycles.keys.contains { $0.account == account }
    }

    fileprivate mutating func add(_ cycle: CycleRecord) -> Bool {
        let isFirst = isEmpty
        // One look into the dictionary: over itself, a record stays as it is.
        func merge(_ record: inout CycleRecord) { record = cycle.over(record) }
        merge(&cycles[cycle.stream, default: cycle])
        return isFirst
    }

    fileprivate mutating func add(_ window: SpentWindow, of account: DID) -> Bool {
        let isFirst = isEmpty
        windows[account] = window
        return isFirst
    }

    /// Takes former writes back. Later records of the same streams and accounts count more.
    fileprivate mutating func putBack(_ former: LateWrites) {
        for (stream, record) in former.cycles { cycles[stream] = cycles[stream]?.over(record) ?? record }
        windows.merge(former.windows) { later, _ in later }
    }

    fileprivate mutating func take() -> LateWrites {
        guard !isEmpty else { return LateWrites() }
        defer {
            cycles.removeAll(keepingCapacity: true)
            windows.removeAll(keepingCapacity: true)
        }
        return self
    }

    mutating func remove(_ accounts: Set<DID>) {
        cycles = cycles.filter { !accounts.contains($0.key.account) }
        windows = windows.filter { !accounts.contains($0.key) }
    }
}

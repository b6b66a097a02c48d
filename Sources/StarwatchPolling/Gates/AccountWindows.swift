import StarwatchCore
import StarwatchStore

/// The windows of a gate's accounts. Only the gate uses it.
final class AccountWindows {
    /// The account of a window; `nil` for the window of all requests.
    typealias Key = DID?

    /// The place of a window. A change in a dictionary's value would take three allocations.
    final class Window {
        fileprivate let key: Key
        var value: AccountWindow

        fileprivate init(_ key: Key, _ value: AccountWindow) { (self.key, self.value) = (key, value) }
    }

    /// The writes of a window. Requests that come before one starts share it, and the time is the latest of them.
    private typealias Write = (queued: Promise<StoreError?>?, now: Timestamp, running: Promise<StoreError?>?)

    private let limits: GateLimits
    /// The requests of all accounts together; `nil`: no common limit.
    var budget: ServerRate?
    /// The store; `nil`: nothing survives the process.
    let store: Store?
    private var windows: [Key: Window] = [:]
    /// The loads in progress.
    private var loads: [Key: Promise<StoreError?>] = [:]
    private var writes: [DID: Write] = [:]
    /// The window that the gauges show.
    var last: Window?
    /// `true` if no request goes any more.
    var isEnding = false

    init(limits: GateLimits, store: Store?) {
        (self.limits, self.store) = (limits, store)
        budget = limits.requestsPerSecond.map { ServerRate(perSecond: $0) }
    }

    /// The window of an account. Its last request often asked for it, and a look into the dictionary takes 500 instructions
    /// (callgrind, `Benchmarks/poll cycles`).
    subscript(key: Key) -> Window? { last.flatMap { $0.key == key ? $0 : nil } ?? windows[key] }

    /// The key of an account's window; `nil` if its requests are not counted.
    func key(of account: DID?) -> Key? {
        limits.areOfAccounts ? account.map { .some($0) } : .some(nil)
    }

    /// The requests that the window of the gauges has left.
    func room(at now: Timestamp) -> Int { last?.value.room(at: now) ?? limits.requestsPerMinute }

    /// Reads the stored window of a previous run. Requests that come meanwhile share the load: the store counts what an
    /// interrupted lease can have sent for one load only.
    func load(_ key: Key, now: Timestamp) async throws(StoreError) -> Window {
        if let running = loads[key] {
            if let failure = await running.outcome() ?? nil { throw failure }
            if let window = windows[key] { return window }
            // The account has rested since.
            return try await load(key, now: now)
        }
        let own = Promise<StoreError?>()
        loads[key] = own
        do throws(StoreError) {
            var opened: RequestWindow?
            if let account = key { opened = try await store?.polls.openRequestWindow(of: account) }
            let window = Window(key, AccountWindow(limits: limits, opened: opened, now: now))
            windows[key] = window
            loads[key] = nil
            own.fulfil(nil)
            return window
        } catch {
            loads[key] = nil
            own.fulfil(error)
            throw error
        }
    }

    func shift(by jump: Duration) {
        budget?.shift(by: jump)
        for window in windows.values { window.value.shift(by: jump) }
    }

    /// Ends the visit of an account: notes what it sent for the store, and takes no more requests that its lease counts.
    ///
    /// - Parameter isInterrupted: Whether an interrupted visit can have sent requests that only the lease counts.
    func endVisit(of account: DID, isInterrupted: Bool, now: Timestamp) async {
        if isInterrupted, windows[account] == nil { _ = try? await load(account, now: now) }
        if let window = windows[account] { record(window, of: account, now: now) }
    }

    /// Notes for the store what an account has sent.
    private func record(_ window: Window, of account: DID, now: Timestamp) {
        guard let store else { return }
        let isUnstored = window.value.isUnstored
        let state = window.value.startWrite(now: now, isLast: true)
        window.value.end(state)
        if isUnstored { store.polls.recordRequestWindow(state.bytes, of: account, spentAt: now) }
    }

    /// Drops an account's window, because the account rests.
    ///
    /// An operator's request can have gone by a lease whose visit has not begun. That visit must find it.
    func drop(_ account: DID, now: Timestamp) {
        guard writes[account] == nil, let window = windows.removeValue(forKey: account) else { return }
        record(window, of: account, now: now)
        if last === window { last = nil }
    }

    /// Stores the windows that match, if an earlier one of their account is stored: that of a removed account is not.
    func storeKnown(now: Timestamp, where matches: (AccountWindow) -> Bool) async {
        // The same order in every process, so that a simulated run can be replayed.
        let ordered = windows.sorted { $0.key?.rawValue ?? "" < $1.key?.rawValue ?? "" }
        for (key, window) in ordered where matches(window.value) {
            _ = try? await store(key, now: now, isKnown: true)
        }
    }

    /// Stores a window.
    ///
    /// - Parameter isKnown: `true` to store it only if an earlier one is stored.
    func store(_ key: Key, now: Timestamp, isKnown: Bool = false) async throws(StoreError) {
        guard let store, let account = key else { return }
        if var write = writes[account], let shared = write.queued {
            write.now = max(write.now, now)
            writes[account] = write
            if let failure = await shared.outcome() ?? nil { throw failure }
            return
        }
        let write = Promise<StoreError?>()
        let former = writes[account]?.running
        writes[account] = (queued: write, now: now, running: former)
        if let former { _ = await former.outcome() }
        let now = writes[account]?.now ?? now
        writes[account] = (queued: nil, now: now, running: write)
        var failure: StoreError?
        if let state = windows[key]?.value.startWrite(now: now, isLast: isEnding) {
            do throws(StoreError) {
                try await store.polls.setRequestWindow(state.bytes, of: account, spentAt: now, isKnown: isKnown)
                windows[key]?.value.end(state)
            } catch {
                failure = error
                windows[key]?.value.fail(state)
            }
        }
        // A later request can have queued the next write.
        if writes[account]?.queued == nil { writes[account] = nil } else { writes[account]?.running = nil }
        write.fulfil(failure)
        if let failure { throw failure }
    }
}

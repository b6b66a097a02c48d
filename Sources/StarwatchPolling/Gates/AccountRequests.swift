package import StarwatchCore
import StarwatchStore
import Synchronization

/// The sender of requests to a server, from its ``Gate/enter(_:)`` to its ``Gate/leave(_:now:)``: the runtime of an account, or a
/// request alone.
package struct Sender: Sendable {
    /// `nil` for requests of no account.
    package let account: DID?
    /// The requests among which its own count; `nil` if they count among none.
    let requests: AccountRequests?

    /// The same sender for one user more: a request, or one that sends several. Each user ends with ``Gate/leave(_:now:)``.
    ///
    /// Call it only while another user has not ended.
    package func joined() -> Sender {
        requests?.join()
        return self
    }

    /// Ends a user that is not the last one, which needs no turn of the gate.
    ///
    /// - Returns: `false` if it is the last one, and has not ended.
    package func leaveOthers() -> Bool { requests?.leaveOthers() ?? true }

    /// Ends a visit: what the account sent is stored with the end of its lease.
    ///
    /// - Parameter isInterrupted: Whether an interrupted visit can have sent requests that only the lease counts.
    package func endVisit(isInterrupted: Bool, now: Timestamp) async {
        if isInterrupted { _ = try? await requests?.load(now: now) }
        requests?.record(now: now)
    }
}

/// The requests of one account at its gate, as long as somebody sends some: its window, with the reads and writes of it.
///
/// Every ``Sender`` of an account has the same one. A request under way or in a queue, and a write that nobody waits for, are
/// users too. Otherwise the next sender would read a window from the store that is not yet there.
final class AccountRequests: Sendable {
    /// The writes of the window. Requests that come before one starts share it, and the time is the latest of them.
    private typealias Writes = (queued: Promise<StoreError?>?, now: Timestamp, running: Promise<StoreError?>?)

    private struct State {
        /// The window; `nil` until it was read.
        var window: AccountWindow?
        var writes: Writes?
        /// The number of those who send requests, at first the one for whom it was made.
        var users = 1
    }

    /// The account; `nil` for the requests of all.
    let account: DID?
    private let limits: GateLimits
    private let store: Store?
    private let read = SharedRead()
    private let state = Mutex(State())

    init(of account: DID?, limits: GateLimits, store: Store?) {
        (self.account, self.limits, self.store) = (account, limits, store)
    }

    func join() { state.withLock { $0.users += 1 } }

    /// Ends a user; `true` after the last one.
    func leave() -> Bool {
        state.withLock { state in
            state.users -= 1
            return state.users == 0
        }
    }

    /// Ends a user unless it is the last one; `false` if it is.
    func leaveOthers() -> Bool {
        state.withLock { state in
            guard state.users > 1 else { return false }
            state.users -= 1
            return true
        }
    }

    /// Whether the window was read.
    var isLoaded: Bool { state.withLock { $0.window != nil } }

    /// Changes the window.
    ///
    /// - Returns: `nil` if it was not read.
    @discardableResult
    func change<Value: Sendable>(_ change: (inout AccountWindow) -> Value) -> Value? {
        state.withLock { $0.window == nil ? nil : change(&$0.window!) }
    }

    /// Reads the stored window of a previous run, once. Requests that come meanwhile share the read: the store counts what an
    /// interrupted lease can have sent for one read only.
    func load(now: Timestamp) async throws(StoreError) {
        try await read.run { () throws(StoreError) in
            var opened: RequestWindow?
            if let account { opened = try await store?.polls.openRequestWindow(of: account) }
            let window = AccountWindow(limits: limits, opened: opened, now: now)
            state.withLock { $0.window = window }
        }
    }

    /// Stores the window.
    ///
    /// - Parameter isKnown: `true` to store it only if an earlier one is stored.
    func store(now: Timestamp, isKnown: Bool = false) async throws(StoreError) {
        guard let store, let account else { return }
        let own = Promise<StoreError?>()
        let (shared, former) = state.withLock { state in
            let former = state.writes
            let latest = former?.queued == nil ? now : max(former?.now ?? now, now)
            state.writes = (queued: former?.queued ?? own, now: latest, running: former?.running)
            return (former?.queued, former?.running)
        }
        if let shared {
            if let failure = await shared.outcome() ?? nil { throw failure }
            return
        }
        if let former { _ = await former.outcome() }
        let (now, write) = state.withLock { state in
            let now = state.writes?.now ?? now
            state.writes = (queued: nil, now: now, running: own)
            return (now, state.window?.startWrite(now: now))
        }
        var failure: StoreError?
        if let write {
            do throws(StoreError) {
                try await store.polls.setRequestWindow(write.bytes, of: account, spentAt: now, isKnown: isKnown)
                change { $0.end(write) }
            } catch {
                failure = error
                change { $0.fail(write) }
            }
        }
        state.withLock { state in
            // A later request can have queued the next write.
            if state.writes?.queued == nil { state.writes = nil } else { state.writes?.running = nil }
        }
        own.fulfil(failure)
        if let failure { throw failure }
    }

    /// Notes for the store what the account has sent, and takes no more requests that its lease counts.
    func record(now: Timestamp) {
        guard let store, let account, let bytes = change({ $0.rest(now: now) }) ?? nil else { return }
        store.polls.recordRequestWindow(bytes, of: account, spentAt: now)
    }
}

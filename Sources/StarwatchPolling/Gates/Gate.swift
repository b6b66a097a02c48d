package import StarwatchCore
package import StarwatchStore

/// The way to one server, shared by every request to it: rate limits, waits that the server asked for, the circuit,
/// and the server's dialect.
package actor Gate {
    /// An answer to whether a request can go now.
    package enum Admission: Sendable, Hashable {
        case go
        case wait(until: Timestamp, source: ThrottleSource)
    }

    enum WindowKey: Hashable {
        case account(DID)
        case everyone
    }

    /// Scheme, host and port.
    package nonisolated let server: String
    /// The server's clock; `nil` where nobody measures it.
    package nonisolated let clock: (any ServerTime)?
    /// `nil`: nothing outlives the process.
    let store: Store?
    private let limits: GateLimits
    private let scope: GateWindows
    private let observer: (any GateObserver)?

    /// The dialect that the configuration names; `nil` where answers decide it.
    let fixedDialect: Dialect?
    var learned = ServerState()
    var doubt = DialectDoubt()
    private let wait: ServerWait
    private var circuit = CircuitBreaker(policy: .server)
    private var windows: [WindowKey: AccountWindow] = [:]
    private var writes: [DID: WindowWrite] = [:]
    /// The window that the gauges show.
    private var lastKey: WindowKey?
    private var serverRemaining: Int?
    private var isRestored: Bool
    /// The jumps of the local clock between the start of the process and ``restore(now:)``.
    private var jumps: Duration

    /// - Parameters:
    ///   - store: Keeps waits, windows and the dialect over a restart; `nil`: they end with the process.
    ///   - jumps: How far the local clock was set since the process began.
    package init(
        server: String,
        limits: GateLimits,
        windows: GateWindows,
        dialect: Dialect? = nil,
        store: Store?,
        watched: (clock: (any ServerTime)?, observer: (any GateObserver)?) = (nil, nil),
        jumps: Duration = .zero
    ) {
        self.server = server
        self.limits = limits
        scope = windows
        fixedDialect = dialect
        self.store = store
        clock = watched.clock
        observer = watched.observer
        self.jumps = jumps
        isRestored = store == nil
        wait = ServerWait(server: server, store: store)
    }

    // MARK: - State

    /// Restores what a former run stored, once. Waits count by the clock of when the process began, and move with it.
    ///
    /// - Throws: ``StoreError`` when it cannot be read: without the store no request goes.
    package func restore(now: Timestamp) async throws(StoreError) {
        guard !isRestored, let store else { return }
        let before = jumps
        let learned = try await store.serverState(server)
        // Another request may have restored it meanwhile.
        guard !isRestored else { return }
        isRestored = true
        self.learned = learned
        wait.restore(learned, now: now - before)
        if jumps != .zero { await wait.shift(by: jumps) }
        try await adoptFixedDialect(now: now)
        publish(now: now)
    }

    package var circuitState: CircuitState { circuit.state }

    /// The time before which nothing is sent; `nil` when requests can go.
    package func heldUntil(now: Timestamp) -> Timestamp? { wait.until(at: now) }

    /// Whether the circuit lets a request through. Begins no trial.
    package func isReady(now: Timestamp) -> Bool { circuit.isReady(at: now) }

    /// The next trial of an open circuit; `nil` when it is closed.
    package var nextTrial: Timestamp? { circuit.nextTry }

    // MARK: - Requests

    /// Says whether one request, which acknowledges `identifiers` identifiers, can go now. Does not count it.
    ///
    /// - Parameter ticket: The same for as long as the request waits: later requests wait behind it, until it goes or
    ///   leaves with ``leave(_:account:)``.
    /// - Throws: ``StoreError`` when the window cannot be read: without the store no request goes.
    package func turn(
        account: DID?,
        ticket: TicketQueue.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        try await restore(now: now)
        let key = key(of: account)
        if let key { try await load(key, now: now) }
        await wait.saveUnstored()
        if let until = wait.until(at: now) { return .wait(until: until, source: .server) }
        if await wait.saveCorrection() {
            return try await turn(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        }
        guard let key else { return .go }
        lastKey = key
        guard let until = windows[key]?.wait(ticket, acknowledging: identifiers, now: now) else { return .go }
        return .wait(until: until, source: .client)
    }

    /// Asks to send one request, and counts it when it can go.
    ///
    /// - Throws: ``StoreError`` when that cannot be stored: the request does not go, because a crash would forget it.
    package func admit(
        account: DID?,
        ticket: TicketQueue.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let turn = try await turn(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        guard turn == .go, let key = key(of: account) else { return turn }
        windows[key]?.spend(ticket, acknowledging: identifiers, now: now)
        do throws(StoreError) {
            try await storeWindow(of: key, now: now)
        } catch {
            ended(account: account, acknowledging: identifiers, admittedAt: now, now: now)
            throw error
        }
        // The answer to another request may have asked to wait during the write.
        guard let until = wait.until(at: now) else { return .go }
        ended(account: account, acknowledging: identifiers, admittedAt: now, now: now)
        return .wait(until: until, source: .server)
    }

    /// Removes a request that gave up from the queue.
    package func leave(_ ticket: TicketQueue.Ticket, account: DID?) {
        if let key = key(of: account) { windows[key]?.leave(ticket) }
    }

    /// Ends a request that was admitted. Its minute begins now: it may have waited for a connection or been slow on its
    /// way, and the server counts it when it arrives.
    ///
    /// - Parameter start: The `now` of its ``admit(account:ticket:acknowledging:now:)``.
    package func ended(account: DID?, acknowledging identifiers: Int = 0, admittedAt start: Timestamp, now: Timestamp) {
        guard let key = key(of: account) else { return }
        windows[key]?.end(acknowledging: identifiers, countedAt: start, now: now)
    }

    /// Learns from the rate-limit headers of an answer.
    package func observe(_ budget: ServerBudget, now: Timestamp) async {
        serverRemaining = budget.remaining
        if let until = budget.notBefore(now: now) { await wait.hold(until: until, now: now) }
        publish(now: now)
    }

    /// Keeps every request from the server until `until`, over a restart too.
    package func hold(until: Timestamp, now: Timestamp) async {
        // Without the store the wait is kept in memory.
        try? await restore(now: now)
        await wait.hold(until: until, now: now)
        publish(now: now)
    }

    /// Stores a wait whose last write failed. Call it from time to time: no cycle ends while a wait lasts.
    package func saveUnstored() async { await wait.saveUnstored() }

    /// Tells the observer the waits and limits as they are now.
    package func publish(now: Timestamp) {
        guard let observer else { return }
        let own = lastKey.flatMap { windows[$0]?.room(at: now) } ?? limits.requestsPerMinute
        observer.update(
            heldUntil: wait.until(at: now),
            remaining: min(own, serverRemaining ?? own),
            circuit: circuit.state
        )
    }

    /// Moves windows, waits and the circuit along with a wall clock that was set by `jump`, positive for forward.
    package func shift(by jump: Duration, now: Timestamp) async {
        circuit.shift(by: jump)
        let keys = Array(windows.keys)
        for key in keys { windows[key]?.shift(by: jump) }
        if isRestored { await wait.shift(by: jump) } else { jumps += jump }
        for key in keys {
            // A write that fails is made up for by the next request.
            _ = try? await storeWindow(of: key, now: now)
        }
    }

    // MARK: - Circuit

    /// Starts a cycle, or a request with all its tries; `false` when the circuit is open.
    package func begin(now: Timestamp) -> Bool {
        let before = circuit.state
        switch circuit.admit(at: now) {
        case .allowed, .probe: break
        case .wait, .probing: return false
        }
        if circuit.state != before { observer?.circuitChanged(to: circuit.state) }
        return true
    }

    /// Ends what ``begin(now:)`` started.
    ///
    /// - Parameter failure: `nil` when it succeeded. Only failures that say the server is down count.
    package func end(_ failure: FailureClass?, now: Timestamp) async {
        let changed = failure.map { circuit.failed($0, at: now) } ?? circuit.succeeded()
        if let changed { observer?.circuitChanged(to: changed) }
        publish(now: now)
        await wait.saveUnstored()
    }

    // MARK: - Windows

    private func key(of account: DID?) -> WindowKey? {
        switch scope {
        case .shared: .everyone
        case .perAccount: account.map(WindowKey.account)
        }
    }

    /// Reads the window that a former run stored.
    private func load(_ key: WindowKey, now: Timestamp) async throws(StoreError) {
        guard windows[key] == nil else { return }
        var stored: [UInt8]?
        if case .account(let account) = key { stored = try await store?.requestWindow(of: account) }
        // Another request of the account may have loaded it, and may have gone already.
        if windows[key] == nil { windows[key] = AccountWindow(limits: limits, stored: stored, now: now) }
    }

    /// Stores the ends of requests that no later request has stored. Call it before the database is closed.
    package func storeEnds(now: Timestamp) async {
        for (key, window) in windows where window.isUnstored { _ = try? await storeWindow(of: key, now: now) }
    }

    /// Drops an account's window, which is stored, from memory.
    package func forget(_ account: DID, now: Timestamp) async {
        let key = WindowKey.account(account)
        if windows[key]?.isUnstored == true { _ = try? await storeWindow(of: key, now: now) }
        windows[key] = nil
    }

    /// One write of a window. Requests that come before it begins share it.
    private struct WindowWrite {
        var queued: Promise<StoreError?>?
        /// The latest time of a request that shares the queued write.
        var now: Timestamp
        var running: Promise<StoreError?>?
    }

    private func storeWindow(of key: WindowKey, now: Timestamp) async throws(StoreError) {
        guard let store, case .account(let account) = key else { return }
        if var write = writes[account], let shared = write.queued {
            write.now = max(write.now, now)
            writes[account] = write
            if let failure = await shared.outcome() ?? nil { throw failure }
            return
        }
        let write = Promise<StoreError?>()
        let former = writes[account]?.running
        writes[account] = WindowWrite(queued: write, now: now, running: former)
        if let former { _ = await former.outcome() }
        let now = writes[account]?.now ?? now
        writes[account] = WindowWrite(queued: nil, now: now, running: write)
        windows[key]?.isUnstored = false
        var failure: StoreError?
        if let window = windows[key] {
            do throws(StoreError) {
                try await store.setRequestWindow(window.stored(at: now), of: account, spentAt: now)
            } catch {
                failure = error
                windows[key]?.isUnstored = true
            }
        }
        // A request that came meanwhile may have queued the next write.
        if writes[account]?.queued == nil { writes[account] = nil } else { writes[account]?.running = nil }
        write.fulfil(failure)
        if let failure { throw failure }
    }
}

package import StarwatchCore
package import StarwatchStore

/// The gate to one server, shared by every request to it. It applies rate limits, waits that the server asked for, and
/// the circuit.
package actor Gate {
    /// The decision whether a request can go now.
    package enum Admission: Sendable, Hashable {
        case go
        case wait(until: Timestamp, source: ThrottleSource)
    }

    /// Scheme, host and port.
    package nonisolated let server: String
    /// The server's clock; `nil` if it is not measured.
    package nonisolated let clock: (any ServerTime)?
    /// The server's dialect, and whether it takes acknowledgements.
    package nonisolated let known: KnownServer
    nonisolated let store: Store?
    private let observer: (any GateObserver)?

    private let wait: ServerWait
    package private(set) var circuit = CircuitBreaker(policy: .server)
    private let windows: AccountWindows
    /// Whether the circuit was open before a reload, and the server has not answered since.
    private var wasOpen = false
    private var serverRemaining: Int?
    /// Whether the state of a previous run was read.
    private var isRestored: Bool
    /// The jumps of the local clock since the start of the process; `nil` when the stored wait was read, which then moves with it.
    private var jumps: Duration?
    private let restoration = SharedRead()

    /// - Parameters:
    ///   - store: Keeps waits, windows and the dialect over a restart; `nil`: they end with the process.
    ///   - jumps: The sum of all clock jumps since the process began.
    package init(
        server: String,
        limits: GateLimits,
        dialect: Dialect? = nil,
        store: Store?,
        clock: (any ServerTime)? = nil,
        observer: (any GateObserver)? = nil,
        jumps: Duration = .zero
    ) {
        self.server = server
        self.store = store
        windows = AccountWindows(limits: limits, store: store)
        known = KnownServer(server: server, dialect: dialect, store: store)
        self.clock = clock
        self.observer = observer
        (isRestored, self.jumps) = (store == nil, store == nil ? nil : jumps)
        wait = ServerWait(server: server, store: store)
    }

    // MARK: - State

    /// Restores the stored state of a previous run, once. Waits count from the clock at process start, and move with
    /// it.
    ///
    /// - Throws: ``StoreError`` if it cannot be read: without the store no request goes.
    package func restore(now: Timestamp) async throws(StoreError) {
        guard !isRestored, let store = windows.store else { return }
        try await restoration.run { () throws(StoreError) in
            try await readWait(from: store, now: now)
            try await known.adoptFixedDialect(now: now)
            // Last: no request goes with a half-restored state, and the next one retries what failed.
            isRestored = true
            publish(now: now)
        }
    }

    private func readWait(from store: Store, now: Timestamp) async throws(StoreError) {
        guard let before = jumps else { return }
        let learned = try await store.servers.state(server)
        let all = jumps.take() ?? before
        known.restore(learned)
        wait.restore(learned, now: now - before)
        if all != .zero { await wait.shift(by: all) }
    }

    /// The wait before which nothing is sent; `nil` if requests can go.
    package func hold(now: Timestamp) -> NotBefore? { wait.until(at: now) == nil ? nil : wait.notBefore }

    /// Returns whether the circuit lets a request through. It starts no trial.
    package func isReady(now: Timestamp) -> Bool { circuit.isReady(at: now) }

    /// Returns whether visits of accounts can send requests. It starts no trial.
    ///
    /// - Throws: ``StoreError`` if the stored wait cannot be read.
    package func readiness(now: Timestamp) async throws(StoreError) -> ServerReadiness {
        if !isRestored { try await restore(now: now) }
        return ServerReadiness(wait: wait.until(at: now), circuit: &circuit, now: now)
    }

    // MARK: - Requests

    /// Begins to send requests of an account, or of none.
    package func enter(_ account: DID?) -> Sender { windows.enter(account) }

    /// Ends that. The gate then forgets an account that nobody else sends requests of.
    package func leave(_ sender: Sender, now: Timestamp) { windows.leave(sender, now: now) }

    /// Decides whether one request, which acknowledges `identifiers` identifiers, can go now. It does not count it.
    ///
    /// - Parameter ticket: The request's ticket, the same during its whole wait. Later requests wait behind it until it
    ///   goes or leaves with ``leave(_:of:)``.
    /// - Throws: ``StoreError`` if the window cannot be read: without the store no request goes.
    package func turn(
        of sender: Sender,
        ticket: TicketQueue.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        // The conditions are here, not in the functions: a cycle comes by twice, and an asynchronous call that does nothing
        // takes hundreds of instructions.
        if !isRestored { try await restore(now: now) }
        if let requests = sender.requests, !requests.isLoaded { try await requests.load(now: now) }
        if !wait.isStored { await wait.save() }
        if let until = wait.until(at: now) { return .wait(until: until, source: .server) }
        if wait.isCorrected {
            // Another wait can come during the write.
            await wait.save()
            return try await turn(of: sender, ticket: ticket, acknowledging: identifiers, now: now)
        }
        if let requests = sender.requests {
            windows.last = requests
            if let until = requests.change({ $0.wait(ticket, acknowledging: identifiers, now: now) }) ?? nil {
                // A request that waits for its account's limit takes no place of the others.
                windows.budget?.leave(ticket)
                return .wait(until: until, source: .client)
            }
        }
        guard let until = windows.budget?.wait(ticket, now: now) else { return .go }
        return .wait(until: until, source: .client)
    }

    /// Decides whether one request can go, and counts it if it can.
    ///
    /// - Throws: ``StoreError`` if the count cannot be stored. The request does not go, because a crash would forget
    ///   it.
    package func admit(
        of sender: Sender,
        ticket: TicketQueue.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let turn = try await turn(of: sender, ticket: ticket, acknowledging: identifiers, now: now)
        guard turn == .go else { return turn }
        windows.budget?.spend(ticket, now: now)
        guard let requests = sender.requests else { return .go }
        let isReserved = requests.change { window in
            window.spend(ticket, acknowledging: identifiers, now: now)
            return identifiers == 0 && window.takeReserved(now: now)
        }
        if isReserved == true { return .go }
        do throws(StoreError) {
            try await requests.store(now: now)
        } catch {
            requests.change { $0.end(acknowledging: identifiers, now: now) }
            throw error
        }
        // The response to another request can have set a wait during the write.
        guard let until = wait.until(at: now) else { return .go }
        requests.change { $0.end(acknowledging: identifiers, now: now) }
        return .wait(until: until, source: .server)
    }

    /// Removes a request from the queue after it gave up.
    package func leave(_ ticket: TicketQueue.Ticket, of sender: Sender) {
        sender.requests?.change { $0.leave(ticket) }
        windows.budget?.leave(ticket)
    }

    /// Ends an admitted request. Its minute starts now, because the server counts it on arrival. Before, it can have waited
    /// for a connection or been slow on its way.
    ///
    /// - Parameter budget: What the response's headers say of the server's rate limit; `nil`: nothing.
    package func ended(
        of sender: Sender,
        acknowledging identifiers: Int = 0,
        budget: ServerBudget? = nil,
        now: Timestamp
    ) async {
        sender.requests?.change { $0.end(acknowledging: identifiers, now: now) }
        guard let budget else { return }
        serverRemaining = budget.remaining
        if let until = budget.notBefore(now: now) { await wait.hold(until: until, now: now) }
        publish(now: now)
    }

    /// Holds back every request to the server until `until`, also across a restart.
    package func hold(until: Timestamp, now: Timestamp) async {
        // Without the store the wait is kept in memory.
        try? await restore(now: now)
        await wait.hold(until: until, now: now)
        publish(now: now)
    }

    /// Ends the server's wait, also the stored one.
    ///
    /// - Returns: The time until which it would have lasted; `nil` if there was no wait.
    /// - Throws: ``StoreError`` if it cannot be stored: the wait would come back with the next start.
    package func clearWait(now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await restore(now: now)
        let until = wait.until(at: now)
        guard await wait.clear() else { throw .busy }
        publish(now: now)
        return until
    }

    /// Stores a wait whose last write failed. Call it regularly, because no cycle ends during a wait.
    package func saveUnstored() async { if !wait.isStored { await wait.save() } }

    /// Reports the present waits and limits to the observer.
    package func publish(now: Timestamp) {
        guard let observer else { return }
        observer.update(heldUntil: wait.until(at: now), remaining: remaining(now: now), circuit: circuit.state)
    }

    /// The requests that the limits of agent and server still allow this minute.
    package func remaining(now: Timestamp) -> Int {
        let own = windows.room(at: now)
        return min(own, serverRemaining ?? own)
    }

    /// Moves windows, waits and the circuit with a wall clock that was set by `jump`, positive for forward.
    package func shift(by jump: Duration, now: Timestamp) async {
        circuit.shift(by: jump)
        known.shift(by: jump)
        windows.budget?.shift(by: jump)
        windows.changeAll { $0.shift(by: jump) }
        if let before = jumps { jumps = before + jump } else { await wait.shift(by: jump) }
        // If this write fails, the next request stores the window.
        await windows.storeKnown(now: now) { _ in true }
    }

    /// Stores what was really spent. Call it before the database closes, when no request goes any more.
    package func storeEnds(now: Timestamp) async {
        windows.changeAll { $0.stop() }
        await windows.storeKnown(now: now, where: \.isUnstored)
    }

    // MARK: - Circuit

    /// The state of the circuit for people: half-open also after a reload, until the server answers.
    package var shownCircuit: CircuitState { wasOpen && circuit.state == .closed ? .halfOpen : circuit.state }

    /// Remembers that `former`, the gate before a reload, had an open circuit. This circuit stays closed, so that the next
    /// request goes at once.
    package func keepCircuit(of former: Gate) async { wasOpen = await former.shownCircuit != .closed }

    /// Starts a cycle, or a request with all its attempts; `false` if the circuit is open.
    package func begin(now: Timestamp) -> Bool {
        let before = circuit.state
        switch circuit.admit(at: now) {
        case .allowed, .probe: break
        case .wait, .probing: return false
        }
        if circuit.state != before { observer?.circuitChanged(to: circuit.state) }
        return true
    }

    /// Ends the work that ``begin(now:)`` started.
    ///
    /// - Parameter failure: `nil` after a success. Only failures that show that the server is down count.
    package func end(_ failure: FailureClass?, now: Timestamp) async {
        let changed = failure.map { circuit.failed($0, at: now) } ?? circuit.succeeded()
        if failure.map({ $0 != .cancelled && !CircuitBreaker.counts($0) }) ?? true { wasOpen = false }
        if let changed { observer?.circuitChanged(to: changed) }
        publish(now: now)
        if !wait.isStored { await wait.save() }
    }
}

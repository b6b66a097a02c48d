import StarwatchCore
import StarwatchStore

/// The way to a server, as the requests of a host application and of digests take it.
protocol RequestGate: Sendable {
    /// The time until which a request has to wait, or `nil` when it could go. Does not count it.
    ///
    /// - Parameter ticket: The same for as long as the request waits: who comes later waits behind it, until it goes or
    ///   leaves.
    func turn(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp?
    /// Asks to send one request; the time until which it has to wait, or `nil` when it may go and is counted.
    func admit(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp?
    /// A request that waited has given up.
    func leave(_ ticket: WaitingLine.Ticket) async
    /// A request that was admitted at `start` has ended: its minute begins now.
    func ended(admittedAt start: Timestamp, now: Timestamp) async
    /// Keeps every request from the server until `until`.
    func hold(until: Timestamp, now: Timestamp) async
    /// Learns from the rate-limit headers of an answer.
    func observe(_ budget: ServerBudget, now: Timestamp) async
    /// Starts a request with all its tries; `false` when the circuit is open.
    func begin(now: Timestamp) async -> Bool
    /// Ends it; `nil`: it succeeded.
    func end(_ failure: FailureClass?, now: Timestamp) async
    /// When an open circuit is tried next.
    func nextTrial() async -> Timestamp?
}

/// The way to the agent's own server, which it shares with the polls: one window, one circuit, one promise to wait.
struct AgentGate: RequestGate {
    let caller: APICaller
    /// `nil` has no window of its own, and goes where the server did not ask to wait.
    let account: DID?

    func turn(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp? {
        guard let account else { return await caller.gate.heldUntil(now: now) }
        let turn = try await caller.gate.turn(account: account, ticket: ticket, now: now)
        guard case .wait(let until, _) = turn else { return nil }
        return until
    }

    func admit(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp? {
        guard let account else { return await caller.gate.heldUntil(now: now) }
        let admission = try await caller.gate.admit(account: account, ticket: ticket, now: now)
        guard case .wait(let until, _) = admission else { return nil }
        return until
    }

    func leave(_ ticket: WaitingLine.Ticket) async {
        if let account { await caller.gate.leave(ticket, account: account) }
    }

    func ended(admittedAt start: Timestamp, now: Timestamp) async {
        guard let account else { return }
        await caller.gate.ended(account: account, admittedAt: start, now: now)
    }

    func hold(until: Timestamp, now: Timestamp) async { await caller.gate.hold(until: until, now: now) }
    func observe(_ budget: ServerBudget, now: Timestamp) async { await caller.gate.observe(budget, now: now) }
    func begin(now: Timestamp) async -> Bool { await caller.gate.beginCycle(now: now) }
    func end(_ failure: FailureClass?, now: Timestamp) async { await caller.gate.endCycle(failure, now: now) }
    func nextTrial() async -> Timestamp? { await caller.gate.nextTrial }
}

/// The way to any other server. What the server asked for outlives a restart where there is a database.
actor OriginGate: RequestGate {
    private let origin: String
    private let store: Store?
    private var window: SlidingWindow
    private var line = WaitingLine()
    private let wait: ServerWait
    private var circuit = CircuitBreaker(policy: .server)
    /// Without a database there is nothing to take up.
    private var isRestored: Bool
    /// How far the clock was set since the process began, before this way knew of its waits.
    private var jumps: Duration

    init(origin: String, requestsPerMinute: Int, store: Store?, jumps: Duration = .zero) {
        self.origin = origin
        self.store = store
        self.jumps = jumps
        isRestored = store == nil
        window = SlidingWindow(limit: requestsPerMinute)
        wait = ServerWait(server: origin, store: store)
    }

    func turn(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp? {
        try await restore(now: now)
        await wait.keepUnstored()
        if let until = wait.until(at: now) { return until }
        if await wait.keepCorrection() { return try await turn(ticket, now: now) }
        return line.wait(ticket, in: &window, now: now)
    }

    func admit(_ ticket: WaitingLine.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp? {
        if let until = try await turn(ticket, now: now) { return until }
        line.leave(ticket)
        _ = window.admit(at: now)
        return nil
    }

    func leave(_ ticket: WaitingLine.Ticket) { line.leave(ticket) }

    func ended(admittedAt start: Timestamp, now: Timestamp) { window.end(at: now) }

    func hold(until: Timestamp, now: Timestamp) async {
        await wait.hold(until: until, now: now)
    }

    func observe(_ budget: ServerBudget, now: Timestamp) async {
        if let until = budget.notBefore(now: now) { await hold(until: until, now: now) }
    }

    func begin(now: Timestamp) -> Bool {
        switch circuit.admit(at: now) {
        case .allowed, .probe: true
        case .wait, .probing: false
        }
    }

    func end(_ failure: FailureClass?, now: Timestamp) async {
        if let failure { circuit.failed(failure, at: now) } else { circuit.succeeded() }
        await wait.keepUnstored()
    }

    func nextTrial() -> Timestamp? { circuit.nextTry }

    /// Moves every wait along with a wall clock that was set by `jump`, positive for forward.
    func shift(by jump: Duration) async {
        window.shift(by: jump)
        circuit.shift(by: jump)
        if isRestored { await wait.shift(by: jump) } else { jumps += jump }
    }

    /// Takes up what a former run stored, by the clock of when the process began, and what was set since.
    ///
    /// - Throws: When it cannot be read: without the store nothing goes.
    private func restore(now: Timestamp) async throws(StoreError) {
        guard !isRestored, let store else { return }
        let before = jumps
        let learned = try await store.serverState(origin)
        // Another request may have been here meanwhile.
        guard !isRestored else { return }
        isRestored = true
        wait.restore(learned, now: now - before)
        if jumps != .zero { await wait.shift(by: jumps) }
    }
}

import StarwatchCore
import StarwatchStore

/// The way to a server, as a host application's requests take it.
protocol RequestGate: Sendable {
    /// Asks to send one request; the time until which it has to wait, or `nil` when it may go and is counted.
    func admit(now: Timestamp) async -> Timestamp?
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

    func admit(now: Timestamp) async -> Timestamp? {
        await caller.lookAtClock()
        guard let account else { return await caller.gate.heldUntil(now: now) }
        guard case .wait(let until, _) = await caller.gate.admit(account: account, now: now) else { return nil }
        return until
    }

    func hold(until: Timestamp, now: Timestamp) async {
        await caller.lookAtClock()
        await caller.gate.hold(until: until, now: now)
    }
    func observe(_ budget: ServerBudget, now: Timestamp) async {
        await caller.lookAtClock()
        await caller.gate.observe(budget, now: now)
    }
    func begin(now: Timestamp) async -> Bool { await caller.gate.beginCycle(now: now) }
    func end(_ failure: FailureClass?, now: Timestamp) async { await caller.gate.endCycle(failure, now: now) }
    func nextTrial() async -> Timestamp? { await caller.gate.nextTrial }
}

/// The way to any other server. What the server asked for outlives a restart where there is a database.
actor OriginGate: RequestGate {
    private let origin: String
    private let store: Store?
    private var window: SlidingWindow
    private var notBefore = NotBefore()
    private var circuit = CircuitBreaker(policy: .server)
    private var isRestored = false
    private var isWaitStored = true
    private var isWaitCorrected = false

    init(origin: String, requestsPerMinute: Int, store: Store?) {
        self.origin = origin
        self.store = store
        window = SlidingWindow(limit: requestsPerMinute)
    }

    func admit(now: Timestamp) async -> Timestamp? {
        await restore(now: now)
        if let until = notBefore.until, now < until { return until }
        if isWaitCorrected {
            await storeWait()
            return await admit(now: now)
        }
        guard case .wait(let until) = window.admit(at: now) else { return nil }
        return until
    }

    func hold(until: Timestamp, now: Timestamp) async {
        notBefore.extend(to: until, source: .server, since: now)
        await storeWait()
    }

    /// As ``ServerGate`` does: one that cannot be stored is kept, and tried again after every request.
    private func storeWait() async {
        isWaitStored = false
        isWaitCorrected = false
        while let store, !isWaitStored {
            let wait = notBefore
            guard (try? await store.setNotBefore(wait, server: origin)) != nil else { return }
            isWaitStored = wait == notBefore
        }
    }

    func observe(_ budget: ServerBudget, now: Timestamp) async {
        guard let until = budget.notBefore(now: now), notBefore.until.map({ $0 < until }) ?? true else { return }
        await hold(until: until, now: now)
    }

    func begin(now: Timestamp) -> Bool {
        switch circuit.admit(at: now) {
        case .allowed, .probe: true
        case .wait, .probing: false
        }
    }

    func end(_ failure: FailureClass?, now: Timestamp) async {
        if let failure { circuit.failed(failure, at: now) } else { circuit.succeeded() }
        if !isWaitStored { await storeWait() }
    }

    func nextTrial() -> Timestamp? { circuit.nextTry }

    /// Moves every wait along with a wall clock that was set by `jump`, positive for forward, and is `now`.
    func shift(by jump: Duration, now: Timestamp) async {
        await restore(now: now - jump)
        window.shift(by: jump)
        notBefore.shift(by: jump)
        circuit.shift(by: jump)
        if notBefore.until != nil { await storeWait() }
    }

    /// What a former run stored, by a clock that is `now`.
    private func restore(now: Timestamp) async {
        // Another request may have been here meanwhile.
        guard !isRestored, let store, let learned = try? await store.serverState(origin), !isRestored else { return }
        isRestored = true
        guard let until = learned.notBefore else { return }
        let stored = NotBefore(restoring: until, since: learned.notBeforeSet, now: now)
        // One that is over too: with a clock that is set back, it is moved back as well.
        notBefore.extend(to: stored.until ?? until, source: .server, since: stored.since)
        isWaitCorrected = notBefore.until != until
    }
}

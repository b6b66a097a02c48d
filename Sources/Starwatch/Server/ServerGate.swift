package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry

/// The way to one server, shared by every request to it: rate limits, waits the server asked for, the circuit, and
/// what is known of its dialect.
package actor ServerGate {
    /// Whether a request may go now.
    package enum Admission: Sendable, Hashable {
        case go
        case wait(until: Timestamp, source: ThrottleSource)
    }

    /// Scheme, host and port.
    package nonisolated let server: String
    private let store: Store
    private let limits: LimitOptions
    private let metrics: AgentMetrics
    private let fixedDialect: Dialect?

    private var learned = ServerState()
    private let wait: ServerWait
    private var circuit = CircuitBreaker(policy: .server)
    private var windows: [DID: AccountWindow] = [:]
    private var windowWrites: [DID: GroupCommit] = [:]
    /// Whose window the gauges show.
    private var lastAccount: DID?
    private var serverRemaining: Int?
    private var isDialectDoubtful = false
    private var lastDoubt: Timestamp?

    package init(server: String, dialect: DialectChoice, limits: LimitOptions, store: Store, metrics: AgentMetrics) {
        self.server = server
        self.store = store
        self.limits = limits
        self.metrics = metrics
        self.fixedDialect = dialect.fixed
        wait = ServerWait(server: server, store: store)
    }

    // MARK: - State

    /// Takes up what a former run stored.
    package func restore(now: Timestamp) async throws(StoreError) {
        learned = try await store.serverState(server)
        wait.restore(learned, now: now)
        if let fixedDialect, learned.dialect != fixedDialect {
            var isAnother = learned.dialect != nil
            if !isAnother {
                isAnother = try await store.hasIdentifiers(otherThan: fixedDialect.idKind, server: server)
            }
            if isAnother { _ = try await remember(fixedDialect, now: now) }
        }
        publish(now: now)
    }

    /// The dialect; `nil` until it is known.
    package var dialect: Dialect? { fixedDialect ?? learned.dialect }

    /// The dialect to ask in; `nil` when an answer has to show it first.
    package var dialectToAsk: Dialect? { isDialectDoubtful ? nil : dialect }

    /// Whether the server takes acknowledgements; `nil` until tried.
    package var acknowledges: Bool? { learned.acknowledges }

    package var circuitState: CircuitState { circuit.state }

    /// The time before which nothing is sent; `nil` when requests may go.
    package func heldUntil(now: Timestamp) -> Timestamp? {
        wait.until(at: now)
    }

    /// Whether the circuit lets a cycle through. Begins no trial.
    package func isReady(now: Timestamp) -> Bool { circuit.isReady(at: now) }

    /// When an open circuit is tried next; `nil` when it is closed.
    package var nextTrial: Timestamp? { circuit.nextTry }

    // MARK: - Dialect

    /// Remembers the dialect of an answer.
    ///
    /// - Returns: Whether streams were started afresh, because it is another one than before.
    package func learn(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        isDialectDoubtful = false
        guard learned.dialect != dialect else { return false }
        return try await remember(dialect, now: now)
    }

    /// Remembers a configured dialect once an answer was understood in it.
    package func confirmDialect(now: Timestamp) async throws(StoreError) {
        if let fixedDialect { _ = try await learn(fixedDialect, now: now) }
    }

    /// Lets the next cycle find out anew what the server speaks, if that was found out and not configured.
    ///
    /// At most once an hour: it costs a request.
    package func doubtDialect(now: Timestamp) {
        guard fixedDialect == nil, learned.dialect != nil else { return }
        if let lastDoubt, lastDoubt <= now, now - lastDoubt < .seconds(3600) { return }
        lastDoubt = now
        isDialectDoubtful = true
    }

    private func remember(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        let isAfresh = try await store.rememberDialect(dialect, of: server, now: now)
        if learned.dialect != dialect { learned.acknowledges = nil }
        learned.dialect = dialect
        return isAfresh
    }

    /// Remembers whether the server takes acknowledgements.
    package func learn(acknowledges: Bool) async throws(StoreError) {
        guard learned.acknowledges != acknowledges else { return }
        try await store.rememberAcknowledges(acknowledges, server: server)
        learned.acknowledges = acknowledges
    }

    // MARK: - Requests

    /// Whether one request, which acknowledges `identifiers` identifiers, could go now. Does not count it.
    ///
    /// - Parameter ticket: The same for as long as the request waits: who comes later waits behind it, until it goes or
    ///   ``leave(_:account:)``s.
    /// - Throws: When it cannot be read what was spent: without the store nothing goes.
    package func turn(
        account: DID,
        ticket: WaitingLine.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        try await load(account, now: now)
        if let until = wait.until(at: now) { return .wait(until: until, source: .server) }
        if await wait.keepCorrection() {
            return try await turn(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        }
        lastAccount = account
        guard let until = windows[account]?.wait(ticket, acknowledging: identifiers, now: now) else { return .go }
        return .wait(until: until, source: .client)
    }

    /// Asks to send one request, and counts it when it may go.
    ///
    /// - Throws: When that cannot be stored: it does not go, for a crash would forget it.
    package func admit(
        account: DID,
        ticket: WaitingLine.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let turn = try await turn(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        guard turn == .go else { return turn }
        windows[account]?.spend(ticket, acknowledging: identifiers, now: now)
        do throws(StoreError) {
            try await storeWindow(of: account)
        } catch {
            ended(account: account, acknowledging: identifiers, admittedAt: now, now: now)
            throw error
        }
        // Another request's answer may have asked to wait meanwhile.
        guard let until = wait.until(at: now) else { return .go }
        ended(account: account, acknowledging: identifiers, admittedAt: now, now: now)
        return .wait(until: until, source: .server)
    }

    /// A request that waited has given up, and stands in nobody's way any more.
    package func leave(_ ticket: WaitingLine.Ticket, account: DID) { windows[account]?.leave(ticket) }

    /// A request that was admitted has ended. Its minute begins now: it may have waited for a connection or been slow on its
    /// way, and the server counts it when it comes.
    ///
    /// - Parameter start: The `now` of its ``admit(account:acknowledging:now:)``.
    package func ended(account: DID, acknowledging identifiers: Int = 0, admittedAt start: Timestamp, now: Timestamp) {
        windows[account]?.end(acknowledging: identifiers, countedAt: start, now: now)
    }

    /// Stores the ends of requests that no later one has stored: to be called before the database is closed.
    package func storeEnds() async {
        for (account, window) in windows where window.isUnstored { _ = try? await storeWindow(of: account) }
    }

    /// Stores what was spent, together with what other requests spend while the store is busy with an earlier write.
    private func storeWindow(of account: DID) async throws(StoreError) {
        let ticket = windowWrites[account, default: GroupCommit()].enter()
        while let state = windowWrites[account], !state.isCovered(ticket) {
            guard !state.isWriting else {
                if let error = await withCheckedContinuation({ windowWrites[account]?.wait($0) }) { throw error }
                continue
            }
            windowWrites[account]?.begin()
            var failure: StoreError?
            windows[account]?.isUnstored = false
            if let window = windows[account], let spentAt = window.lastSpent {
                do throws(StoreError) {
                    try await store.setRequestWindow(window.stored, of: account, spentAt: spentAt)
                } catch {
                    failure = error
                    windows[account]?.isUnstored = true
                }
            }
            windowWrites[account]?.end(failure)
            if let failure { throw failure }
        }
    }

    /// Learns from the rate-limit headers of an answer.
    package func observe(_ budget: ServerBudget, now: Timestamp) async {
        serverRemaining = budget.remaining
        if let until = budget.notBefore(now: now) { await wait.hold(until: until, now: now) }
        publish(now: now)
    }

    /// Keeps every request from the server until `until`, over a restart too.
    package func hold(until: Timestamp, now: Timestamp) async {
        await wait.hold(until: until, now: now)
        publish(now: now)
    }

    /// Refreshes the gauges before a scrape.
    package func publish(now: Timestamp) {
        metrics.api.throttleUntil.set(wait.until(at: now)?.seconds ?? 0)
        let own = lastAccount.flatMap { windows[$0]?.room(at: now) } ?? limits.requestsPerMinute
        metrics.api.rateLimitRemaining.set(Double(min(own, serverRemaining ?? own)))
        metrics.api.circuitState[metrics.circuitNames.all[0]].set(circuit.state.metricValue)
    }

    /// Moves what was spent, and every wait, along with a wall clock that was set by `jump`, positive for forward.
    package func shift(by jump: Duration) async {
        circuit.shift(by: jump)
        let accounts = Array(windows.keys)
        for account in accounts { windows[account]?.shift(by: jump) }
        await wait.shift(by: jump)
        for account in accounts {
            // What cannot be stored now is stored with the next request.
            _ = try? await storeWindow(of: account)
        }
    }

    // MARK: - Cycles

    /// Starts a cycle; `false` when the circuit is open.
    package func beginCycle(now: Timestamp) -> Bool {
        let before = circuit.state
        switch circuit.admit(at: now) {
        case .allowed, .probe: break
        case .wait, .probing: return false
        }
        if circuit.state != before { count(circuit.state) }
        return true
    }

    /// Ends a cycle.
    ///
    /// - Parameter failure: `nil` when it succeeded. Only failures that say the server is down count.
    package func endCycle(_ failure: FailureClass?, now: Timestamp) async {
        let changed = failure.map { circuit.failed($0, at: now) } ?? circuit.succeeded()
        if let changed { count(changed) }
        publish(now: now)
        await wait.keepUnstored()
    }

    /// Stores the wait, should it not be stored: to be called from time to time, for no cycle ends while it lasts.
    package func keepUnstored() async { await wait.keepUnstored() }

    private func count(_ state: CircuitState) {
        metrics.api.circuitTransitions[metrics.circuitNames.all[0], state].increment()
    }

    /// Reads what a former run spent.
    private func load(_ account: DID, now: Timestamp) async throws(StoreError) {
        guard windows[account] == nil else { return }
        let stored = try await store.requestWindow(of: account)
        // Another request of the account may have been here meanwhile, and may have gone already.
        if windows[account] == nil { windows[account] = AccountWindow(limits: limits, stored: stored, now: now) }
    }
}

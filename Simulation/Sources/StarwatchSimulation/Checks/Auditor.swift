import Starwatch
import StarwatchCore
import StarwatchStore

/// Work that is left after the last fault.
struct RemainingWork: Sendable {
    /// Changes the server shows that were neither announced nor listed as dead or in quarantine.
    var lost: [String] = []
    /// Items in quarantine that the cursor has not passed.
    var unpassed: [String] = []
    /// Rows that are neither finished nor given up.
    var open = 0
    /// Rows that were delivered, acknowledged or dead; rises while the agent makes progress.
    var ended = 0

    var total: Int { lost.count + unpassed.count + open }

    mutating func add(_ more: RemainingWork) {
        lost += more.lost
        unpassed += more.unpassed
        open += more.open
        ended += more.ended
    }
}

/// Compares an agent's database with the state of the server and the sinks.
final class Auditor: Sendable {
    let settings: Settings
    let network: SimulatedNetwork
    let clock: SimulatedClock
    let violations: Violations
    let truth = Confined(Truth())
    private let damaged = Confined<Set<String>>([])
    /// One of many accounts; `nil` for the active identity.
    let served: DID?

    init(network: SimulatedNetwork, clock: SimulatedClock, served: DID? = nil) {
        self.served = served
        settings = network.server.settings
        violations = network.violations
        self.network = network
        self.clock = clock
    }

    func noteDiscarded(_ ids: [String]) { truth.value.discarded.formUnion(ids) }
    /// Notes a row of which a value was damaged.
    func noteDamaged(_ id: String) { damaged.value.insert(id) }
    func noteRetried(_ ids: [String]) { truth.value.retried.formUnion(ids) }

    /// Forgets the watermarks, because a power loss can undo the last ones.
    func forgetWatermarks() { truth.value.watermarks = [:] }

    var account: DID? { truth.value.account }

    // MARK: - Checks

    /// Reads the identity and the stars from the database, and checks the watermarks.
    func look(at agent: Agent) async throws(StoreError) {
        guard let did = try await account(of: agent) else { return }
        let stars = Set(try await agent.store.stars.list(of: did))
        for plan in truth.value.stars.keys where !stars.contains(plan) {
            truth.value.stars[plan] = nil
            network.server.state.value.unstarred.insert(plan)
        }
        for plan in stars where truth.value.stars[plan] == nil { truth.value.stars[plan] = clock.boot }
        for poll in agent.runtime.polls {
            let stream = StreamKey(account: did, server: Settings.server, poll: poll.name)
            let state = try await agent.store.polls.state(stream, maxUndelivered: agent.options.outbox.maxUndelivered)
            if state.bootstrapped, truth.value.bootstrapped[poll.name] == nil {
                truth.value.bootstrapped[poll.name] = clock.boot
            }
            check(state, of: poll.name)
        }
    }

    /// Returns the account that is audited, after forgetting what was true of it before it began anew; `nil` for none.
    private func account(of agent: Agent) async throws(StoreError) -> DID? {
        var (did, generation): (DID?, Int)
        if let served {
            // Every change raises an account's generation, so the time of its addition tells whether it began anew.
            guard let account = try await agent.store.accounts.account(served) else { return nil }
            (did, generation) = (served, Int(account.addedAt.milliseconds))
        } else {
            let identity = try await agent.store.identity.active()
            (did, generation) = (identity.did, identity.generation)
        }
        if generation != truth.value.generation || did != truth.value.account {
            for plan in truth.value.stars.keys { network.server.state.value.unstarred.insert(plan) }
            for receiver in network.receivers { receiver.excuseRepetitions() }
            let discarded = truth.value.discarded
            truth.value = Truth()
            truth.value.discarded = discarded
            truth.value.generation = generation
            truth.value.since = clock.boot
            truth.value.account = did
        }
        return did
    }

    private func check(_ state: PollState, of poll: PollName) {
        if let former = truth.value.watermarks[poll] {
            if state.watermark.map({ $0.rawValue < former.rawValue }) ?? true {
                violations.record(.watermarkRises, "it fell from \(former.rawValue)")
            }
        }
        truth.value.watermarks[poll] = state.watermark
    }

    /// Compares every row with the sinks, and the ledger with the rows.
    ///
    /// - Parameter isSettled: Whether no delivery is left.
    func audit(_ agent: Agent, isSettled: Bool = false) async throws(StoreError) {
        try await look(at: agent)
        let snapshot = try await agent.store.status.snapshot([])
        let (fetched, new) = (snapshot.fetchedImbalance, snapshot.newImbalance)
        if fetched != 0 || new != 0 {
            violations.record(.ledgerBalances, "fetched is off by \(fetched), new by \(new)")
        }
        try await checkQuarantine(of: agent)
        for row in try await rows(of: agent) {
            let id = row.change.id.rawValue
            if row.reason == .unreadable, !damaged.value.contains(id) {
                violations.record(.damageContained, "\(id) was set aside, and nothing of it is damaged")
            }
            if isSettled { checkNamed(row) }
            if row.state == .delivered || row.state == .acknowledged, !network.isDelivered(id) {
                violations.record(.nothingInvented, "\(id) is \(row.state.rawValue) and not at every required sink")
            }
            guard row.stream.account == truth.value.account, !row.state.isTerminal,
                let watermark = truth.value.watermarks[row.stream.poll], watermark.precedes(row.change.id) == false
            else { continue }
            // A dead row is finished, so the watermark passed it. The operator can still retry it.
            guard !truth.value.retried.contains(id) else { continue }
            // Exempt: changes the server showed late, and changes from before the star or the start of the poll.
            guard let item = network.server.state.value.feed[id], !item.isLate, !item.isOvertaken,
                !canBeSetAside(item),
                truth.value.mustHave(item, in: row.stream.poll, bootstrap: settings.bootstrap == .beginning)
            else { continue }
            violations.record(.watermarkTruthful, "\(id) is \(row.state.rawValue), the watermark \(watermark.rawValue)")
        }
    }

    private func rows(of agent: Agent, in states: Set<OutboxState>? = nil) async throws(StoreError) -> [OutboxRow] {
        var filter = OutboxFilter()
        if let states { filter.states = states }
        filter.limit = 100_000
        filter.account = served
        return try await agent.store.outbox.list(filter)
    }

    private func isAccepted(_ id: String) -> Bool { network.receivers.contains { $0.hasAccepted(id) } }

    // MARK: - The end

    /// Returns the remaining work.
    ///
    /// - Parameter feed: Published changes. Those that a sink accepted or the operator discarded are removed from it.
    ///   Publish nothing between two calls with the same feed.
    func remaining(in agent: Agent, of feed: inout [FeedRow]) async throws(StoreError) -> RemainingWork {
        try await look(at: agent)
        guard let account = truth.value.account else { return RemainingWork() }
        feed.removeAll { isAccepted($0.id) || truth.value.discarded.contains($0.id) }
        var ended = 0
        var (lost, unpassed): (Set<String>, Set<String>) = ([], [])
        for poll in agent.runtime.polls {
            let stream = StreamKey(account: account, server: Settings.server, poll: poll.name)
            let ledger = try await agent.store.status.ledger(stream)
            ended += ledger.delivered + ledger.acknowledged + ledger.dead
            let quarantine = try await quarantine(of: stream, in: agent)
            for row in feed
            where row.isVisible(at: clock.boot)
                && truth.value.mustHave(row, in: poll.name, bootstrap: settings.bootstrap == .beginning)
            {
                switch quarantine.place(of: row, isUnreadable: isUnreadable(row)) {
                case .none: lost.insert(row.id)
                case .passed: break
                case .unpassed: unpassed.insert(row.id)
                }
            }
        }
        // Acknowledged rows are not read: they are nearly all rows. Rows of a former identity stay delivered for ever.
        let rows = try await rows(of: agent, in: [.pending, .claimed, .delivered, .evicted, .dead])
            .filter { $0.stream.account == account }
        lost.subtract(rows.filter { $0.state == .dead }.map(\.change.id.rawValue))
        // An optional sink gets its notifications too, although no row waits for it.
        let isDue = try await agent.store.deliveries.nextAt(of: account) != nil
        let open = rows.count { !$0.state.isTerminal } + (isDue ? 1 : 0)
        return RemainingWork(lost: lost.sorted(), unpassed: unpassed.sorted(), open: open, ended: ended)
    }

    /// Describes a watermark below the newest finished change; `nil` if there is none.
    func unreached(in agent: Agent) -> String? {
        for poll in agent.runtime.polls {
            let required = network.server.state.value.feed.rows.last {
                $0.isVisible(at: clock.boot) && !canBeSetAside($0)
                    && truth.value.mustHave($0, in: poll.name, bootstrap: settings.bootstrap == .beginning)
            }
            guard let required, let watermark = truth.value.watermarks[poll.name]?.rawValue ?? "" as String?,
                watermark < required.id
            else { continue }
            return "the watermark of \(poll.name.rawValue) is \(watermark), and \(required.id) is finished"
        }
        return nil
    }
}

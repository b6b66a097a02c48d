import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The accounts of a process that serves many, as an operator adds, lists, pauses and removes them.
struct AccountsControl: Sendable {
    let environment: Environment
    let pseudonym: InstallationHash
    let gate: Gate
    let server: VisitedServer
    let polls: [Poll]
    let sharing: [PollKind: SharedRequests]
    /// The configured sinks.
    let sinks: [SinkOptions]
    /// The sinks that need an address of the account, if all do; none if another sink reaches every account.
    let addressedSinks: [String]
    /// Ends the work that an account has now.
    let endWork: @Sendable (DID) async -> Void
    /// Wakes the loop of the visits.
    let wake: Signal
    let requestsPerSecond: Int

    private var store: Store { environment.store }
    private var now: Timestamp { environment.time.now }

    func list(_ query: AccountQuery) async throws -> AccountListing {
        try ControlError.check(limit: query.limit, upTo: AccountQuery.listLimit)
        let after = try query.after.map { try DID(named: $0) }
        let failures = try await failures(counted: query.limit)
        guard query.failing else {
            let known = Dictionary(uniqueKeysWithValues: failures.map { ($0.account, $0) })
            return AccountListing(
                accounts: try await store.accounts.list(after: after, limit: query.limit).map {
                    report($0, known[$0.did])
                }
            )
        }
        var accounts: [AccountReport] = []
        let rest = after.map { after in failures.drop { $0.account != after }.dropFirst() } ?? failures[...]
        for failure in rest.prefix(query.limit) {
            guard let account = try await store.accounts.account(failure.account) else { continue }
            accounts.append(report(account, failure))
        }
        return AccountListing(accounts: accounts)
    }

    func show(_ did: DID) async throws -> AccountReport {
        guard let account = try await store.accounts.account(did) else { throw Self.isUnknown }
        return report(account, try await failures(counted: 1, of: did).first)
    }

    // MARK: - Changes

    /// Adds the entries that can be added. Each account's first visit is within a minute, at its own time.
    func add(_ additions: AccountAdditions) async throws -> AccountAdditionsReport {
        guard additions.accounts.count <= AccountAdditions.limit else {
            throw ControlError(.invalid, "One request can add \(AccountAdditions.limit) accounts; send several.")
        }
        let dialect = PlanIDRule.certainDialect(gate.known.dialect, server: gate.server)
        var results: [AccountAdditionsReport.Entry?] = []
        var drafts: [AccountDraft] = []
        var known: Set<DID> = []
        let spellings = additions.accounts.compactMap { DID($0.did) }.flatMap { [$0] + $0.otherSpellings }
        let served = try await store.accounts.served(among: spellings)
        for entry in additions.accounts {
            do throws(ControlError) {
                var draft = try Self.draft(entry, in: dialect)
                for (name, address) in entry.sinks ?? [:] {
                    if let problem = SinkOptions.problem(of: address, for: name, among: sinks) {
                        throw ControlError(.invalid, problem)
                    }
                    draft.sinks[name] = .some(address)
                }
                draft.polls = try wanted(entry.polls)
                let others = draft.did.otherSpellings
                guard known.insert(draft.did).inserted, known.isDisjoint(with: others) else {
                    throw ControlError(.invalid, "The DID stands twice; leave one of them out.")
                }
                // Accounts that were added before stay, and can be changed.
                if !served.contains(draft.did) {
                    if !served.isDisjoint(with: others) { throw .isServedOtherwise }
                    if draft.did.hasWrongChecksum { throw .hasWrongChecksum }
                }
                drafts.append(draft)
                results.append(nil)
            } catch {
                results.append(.init(result: "refused", problem: error.message))
            }
        }
        let now = now
        let done = try await store.accounts.add(drafts, server: gate.server, now: now) { did in
            now + Splay.delay(instance: did.rawValue, poll: .firstVisit, within: .seconds(60))
        }
        var next = done.makeIterator()
        // The next request asks for them, and the warning counts them.
        let requests = sharing[.starredProjects]
        for draft in drafts { requests?.want(draft.stars ?? [], at: environment.time.boottime) }
        let entries = results.map { $0 ?? Self.entry(next.next()) }
        note("added", done.filter { [.added, .returned, .changed].contains($0) }.count)
        return AccountAdditionsReport(accounts: entries, warning: try await warning())
    }

    /// The polls of an entry; empty if it names all of them, so that it gets those of later configurations too.
    private func wanted(_ names: [String]?) throws(ControlError) -> [PollName]? {
        guard let names else { return nil }
        guard !names.isEmpty else {
            throw ControlError(.invalid, "polls is empty; name a poll, or pause the account.")
        }
        let configured = polls.map(\.name)
        let wanted = configured.filter { names.contains($0.rawValue) }
        guard wanted.count == Set(names).count else {
            let known = configured.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalid, "There is no poll of that name; the configuration has \(known).")
        }
        return wanted.count == configured.count ? [] : wanted
    }

    private static func entry(_ addition: AccountAddition?) -> AccountAdditionsReport.Entry {
        switch addition {
        case .added: .init(result: "added", problem: nil)
        case .returned: .init(result: "added", problem: nil, returned: true)
        case .changed: .init(result: "changed", problem: nil)
        case .unchanged: .init(result: "unchanged", problem: nil)
        case .hasMoved(let since): .init(result: "refused", problem: ControlError.hasMoved(since: since).message)
        case nil: .init(result: "refused", problem: nil)
        }
    }

    private static func draft(_ entry: AccountAdditions.Entry, in dialect: Dialect) throws(ControlError) -> AccountDraft
    {
        let did = try DID(named: entry.did)
        if let problem = DID.typingProblem(entry.did) { throw ControlError(.invalid, "The DID \(problem)") }
        guard let stars = entry.stars else { return AccountDraft(did: did, stars: nil) }
        guard stars.allSatisfy({ (1...2048).contains($0.unicodeScalars.count) }) else {
            throw ControlError(.invalid, "A star is empty or longer than 2,048 characters; correct it.")
        }
        guard stars.count <= StarsChange.planLimit else {
            throw ControlError(.invalid, "An account can star at most 10,000 plans; send fewer.")
        }
        if let problem = PlanIDRule.problem(stars, in: dialect) { throw ControlError(.invalid, problem) }
        return AccountDraft(did: did, stars: stars)
    }

    func pause(_ removal: IdentityRemoval) async throws -> AccountReport { try await set(.paused, removal) }

    func resume(_ removal: IdentityRemoval) async throws -> AccountReport { try await set(.active, removal) }

    private func set(_ status: AccountStatus, _ removal: IdentityRemoval) async throws -> AccountReport {
        let did = try removal.account()
        guard let account = try await store.accounts.set(status, of: did, now: now) else { throw Self.isUnknown }
        await endWork(did)
        note(status == .paused ? "paused" : "resumed", 1)
        return report(account)
    }

    /// Stops serving an account, whose data is deleted later.
    func remove(_ removal: IdentityRemoval) async throws -> IdentityRemovalReport {
        let did = try removal.account()
        guard let removedAt = try await store.accounts.remove(did, now: environment.clock.now) else {
            throw Self.isUnknown
        }
        await endWork(did)
        note("removed", 1)
        return IdentityRemovalReport(keptUntil: (removedAt + RetentionPolicy().removed).iso8601)
    }

    /// Ends an account's work before it is erased. A removed account has none.
    func stop(_ removal: IdentityRemoval) async throws {
        let did = try removal.account()
        // One that was removed is not served any more.
        _ = try await store.accounts.set(.paused, of: did, now: now)
        await endWork(did)
    }

    /// Notes that an account was erased.
    func noteErasure() { note("erased", 1) }

    /// Notes that an operator changed something of an account, which its next visit must find.
    func noteChange(of did: DID) async {
        try? await store.accounts.makeDue(did, now: now)
        wake.raise()
    }

    /// Notes a change of accounts, and lets the visits find it.
    func note(_ kind: String, _ count: Int) {
        wake.raise()
        guard count > 0 else { return }
        environment.logger.log(.accountsChanged, [.kind: "\(kind)", .count: .number(count)])
    }

    // MARK: - Failures

    private func failures(counted: Int, of account: DID? = nil) async throws(StoreError) -> [AccountFailure] {
        let polls = polls.filter(\.options.isEnabled).map { ($0.name, $0.kind) }
        return try await store.accounts.failures(
            of: Dictionary(uniqueKeysWithValues: polls),
            server: gate.server,
            counted: counted,
            account: account
        )
    }

    /// The failing accounts, the longest failure first. While the server does not answer, that is the reason for all others than
    /// those that only a person can help.
    func failures() async throws(StoreError) -> [AccountFailure] {
        let isAnswering = await gate.shownCircuit == .closed
        return try await failures(counted: AgentStatus.Accounts.longestList)
            .filter { isAnswering || $0.needsAction }
    }

    private func failureReport(_ failure: AccountFailure, dueAt: Timestamp?) -> AccountFailureReport {
        let splay = Splay.delay(
            instance: failure.account.rawValue,
            poll: failure.poll,
            within: polls.first { $0.name == failure.poll }?.options.splay ?? .zero
        )
        return AccountFailureReport(failure, nextTry: failure.nextRun.map { $0 + splay } ?? dueAt)
    }

    // MARK: - Reports

    /// The accounts in numbers.
    func counts() async throws(StoreError) -> AccountCounts {
        let now = now
        try await server.look(now: now)
        var counts = try await store.accounts.counts(
            server.work,
            now: now,
            staleBefore: now - staleAfter,
            addressed: addressedSinks
        )
        counts.oldestDue = counts.oldestDue.map { server.due(since: $0, now: now) }
        return counts
    }

    /// Sets the gauges of accounts.
    ///
    /// - Returns: The number of active ones.
    func publish() async throws(StoreError) -> Int {
        let (metrics, counts) = (environment.metrics.fleet, try await counts())
        metrics.accounts[.active].set(Double(counts.active))
        metrics.accounts[.paused].set(Double(counts.paused))
        metrics.leases.set(Double(counts.leased))
        metrics.stale.set(Double(counts.stale))
        metrics.unreachable.set(Double(counts.unreachable))
        metrics.due.set(Double(counts.due))
        metrics.oldestDue.set(counts.oldestDue?.seconds ?? 0)
        metrics.reachableInterval.set(duration(of: round(counts)).inSeconds)
        let failing = Dictionary(grouping: try await failures(), by: \.label)
        for label in FailureLabel.allCases where label.isOfPolls {
            metrics.failing[label].set(Double(failing[label]?.count ?? 0))
        }
        return counts.active
    }

    /// The age of a success after which an account is stale: that of the poll that can wait longest.
    private var staleAfter: Duration { polls.map(\.staleAfter).max() ?? .days(1) }

    /// The requests of one round of all accounts, to their server.
    ///
    /// - Parameter isFirst: Whether the first poll of each account since the start counts, which asks alone.
    private func round(_ counts: AccountCounts, isFirst: Bool = true) -> FleetRound {
        let polls = polls.filter(\.options.isEnabled)
        let alone = polls.filter { sharing[$0.kind] == nil && !$0.kind.isList }
        // Shared requests note themselves which accounts rest.
        let unwanted = WantedPolls.unwanted(alone.map { (name: $0.name, kind: $0.kind) }, by: counts.preferences)
        return sharing.reduce(FleetRound(polls: counts.active * alone.count - unwanted)) { round, shared in
            let polls = polls.filter { $0.kind == shared.key }
            return round + shared.value.round(accounts: counts.active, polls: polls, isFirst: isFirst, now: now)
        }
    }

    private func duration(of round: FleetRound) -> Duration { round.duration(requestsPerSecond: requestsPerSecond) }

    func status(of counts: AccountCounts, _ failures: [AccountFailure]) -> AgentStatus.Accounts {
        let (metrics, round) = (environment.metrics.fleet, round(counts))
        var status = AgentStatus.Accounts(counts, round: duration(of: round), requests: round.requests)
        if !sharing.isEmpty {
            status.sharedRequests = Int(metrics.sharedRequests.value)
            status.sharedPolls = Int(metrics.sharedPolls.value)
        }
        status.failing = failures.count
        status.worst = failures.prefix(AgentStatus.Accounts.longestList).map {
            .init(account: pseudonym.hash($0.account), failure: failureReport($0, dueAt: nil))
        }
        return status
    }

    /// The facts that decide about the agent's health.
    func facts(
        _ counts: AccountCounts,
        _ failures: [AccountFailure],
        now: Timestamp
    ) -> HealthFacts.Accounts {
        let wait = counts.oldestDue.map { max(now - $0, .zero) } ?? .zero
        let round = duration(of: round(counts))
        var facts = HealthFacts.Accounts(
            wait: wait,
            round: server.awaited(round, wait: wait),
            stale: counts.stale
        )
        facts.unreachable = counts.unreachable
        facts.take(failures)
        return facts
    }

    private func warning() async throws -> String? {
        let round = duration(of: round(try await counts(), isFirst: false))
        let shortest = polls.map { $0.schedule.longestGap(from: now) }.min() ?? .zero
        guard round > shortest, shortest > .zero else { return nil }
        return """
            The polls are due every \(DurationText.format(shortest)), and fleet.requests_per_second allows one round of all \
            accounts in \(DurationText.format(round)); raise the limit, or poll less often.
            """
    }

    private func report(_ account: StoredAccount, _ failure: AccountFailure? = nil) -> AccountReport {
        let dueAt = account.status == .active ? account.dueAt : nil
        return AccountReport(
            did: account.did.rawValue,
            pseudonym: pseudonym.hash(account.did),
            status: account.status.rawValue,
            stars: account.stars,
            polls: polls.map(\.name).filter { account.polls?.contains($0) ?? true }.map(\.rawValue),
            addedAt: account.addedAt.iso8601,
            dueAt: dueAt?.iso8601,
            lastAttempt: account.lastAttempt?.iso8601,
            lastSuccess: account.lastSuccess?.iso8601,
            working: account.isLeased,
            sinks: sinks.filter(\.isOfAccounts).reduce(into: [:]) {
                $0[$1.name] = account.sinks[$1.name]?.rawValue ?? "missing"
            },
            sinkReasons: account.rejections.isEmpty ? nil : account.rejections.mapValues(\.description),
            failure: failure.map { failureReport($0, dueAt: dueAt) }
        )
    }

    private static let isUnknown = ControlError.isNoAccount
}

extension PollName {
    /// The name under which an account's first visit has its delay.
    fileprivate static let firstVisit = PollName("first_visit")!
}

extension ControlError {
    fileprivate static let hasWrongChecksum = ControlError(
        .invalid,
        "The DID's capital letters are not those of its checksum, so a character is wrong; copy it again from the app."
    )
    static let isNoAccount = ControlError(.notFound, "There is no such account; see starwatch accounts list.")
    /// Two accounts of one person would be told each change twice.
    static let isServedOtherwise = ControlError(
        .invalid,
        "The account is served under another spelling of its DID, with other capital letters; use that one."
    )
}

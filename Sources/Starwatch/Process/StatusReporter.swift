import Glibc
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Reads the facts about the agent from its parts and its database, and shows them as its status.
struct StatusReporter: Sendable {
    let runtime: AccountRuntime
    let digests: DigestControl
    let fleet: FleetService?
    var sinks: [SinkSlot]

    private var process: AgentProcess { runtime.process }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var options: AgentOptions { runtime.options }
    private var metrics: AgentMetrics { process.environment.metrics }
    private var clock: ServerClock { process.environment.clock }
    private var time: any TimeSource { process.environment.time }

    /// The present status. Reading it changes nothing, and publishes nothing.
    func status() async -> AgentStatus {
        await status { problems, _, now in lifecycle.dated(problems, now: now) }
    }

    /// Looks for problems: logs which have begun and ended, and gives the present ones to the metrics.
    ///
    /// - Returns: The status with them.
    func look() async -> AgentStatus {
        lifecycle.seen.note(metrics.api.totals(longest: metrics.api.takeLongestSeconds()), at: time.monotonic)
        if let bytes = ProcessMetrics.residentBytes { lifecycle.seen.note(residentBytes: bytes, uptime: uptime) }
        return await status { problems, facts, now in
            let dated = lifecycle.follow(
                problems,
                // A cancelled look has not seen everything.
                isComplete: facts.canReadStore && !Task.isCancelled,
                now: now,
                logger: process.environment.logger
            )
            metrics.problems.show(dated)
            return dated
        }
    }

    /// - Parameter dated: Returns the problems with their starts.
    private func status(_ dated: ([Problem], HealthFacts, Timestamp) -> [Problem]) async -> AgentStatus {
        // By the local clock, like every age. What a server says of the time must not make data look fresh.
        let now = time.now
        var status = AgentStatus(version: AgentVersion.current, startedAt: now - uptime, now: now)
        status.pid = Int(getpid())
        status.clock = AgentStatus.Clock(clock)
        status.server.dialect = runtime.account.gate.known.dialect
        status.memory = ProcessMetrics.residentBytes.map {
            AgentStatus.Memory(residentBytes: $0, settledBytes: lifecycle.seen.settledBytes)
        }
        status.timeZones = AgentStatus.TimeZones(ZoneDatabase.ofMachine.data, LocalZone.ofMachine)
        status.lastScrape = lifecycle.seen.lastScrape?.iso8601
        status.server.keyCreated = lifecycle.seen.keyCreated.map { min($0, now).iso8601 }
        var facts = await facts(now: now)
        do {
            try await read(&status, &facts, now: now)
            facts.canReadStore = process.store.health.failure == nil
        } catch {
            facts.canReadStore = false
        }
        facts.storeFault =
            process.store.status.pageCheckPhase == .damaged ? .corrupt : process.store.health.fault
        facts.isStoreLost = process.store.status.isFileLost
        status.show(facts, now: now)
        status.pollingMetrics = metrics.summary(of: facts.polls)
        let problems = dated(HealthDecision.problems(facts, now: now), facts, now)
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        status.notice = HealthDecision.notice(facts, now: now)
        return status
    }

    /// The time since the start of the agent.
    private var uptime: Duration { time.boottime - process.startedAt }

    /// Converts a past time of the server's clock to the local one.
    private func past(_ time: Timestamp?, _ now: Timestamp) -> Timestamp? { time.map { min(clock.local($0), now) } }

    // MARK: - Facts

    /// The facts that are not in the database.
    private func facts(now: Timestamp) async -> HealthFacts {
        var facts = HealthFacts()
        let (gate, seen, tokens) = (runtime.account.gate, lifecycle.seen, runtime.account.api.tokens)
        facts.isSkewed = clock.isSkewed
        facts.certificates = metrics.problems.certificates.all.map {
            Certificate(of: $0.owner, expiry: clock.local($0.expiry))
        }
        facts.serverCircuit = await gate.shownCircuit
        facts.hold = await gate.hold(now: now)
        facts.requestsLeft = await gate.remaining(now: now)
        facts.tokenExpiry = await tokens.expiry.map(clock.local)
        facts.tokensLeft = await tokens.poolRemaining
        facts.failedAcknowledgements = runtime.acknowledger.failedPasses
        facts.acknowledgementFailure = runtime.acknowledger.lastFailure
        facts.refusedReload = seen.refusedReload
        facts.refusedPorts = lifecycle.refusedPorts.map(\.rawValue).sorted()
        facts.isIdle =
            options.polls.isEmpty && options.digests.isEmpty && !lifecycle.isEmbedded && !metrics.showsHostPolls
        facts.answers = seen.answers(metrics.api.totals(longest: metrics.api.longestSeconds), at: time.monotonic)
        facts.restarts = process.runs.ends()
        facts.jump = seen.jump(at: time.boottime)
        facts.scrapeSilence = seen.scrapeSilence(at: time.monotonic)
        let files = process.store.status.fileSizes()
        if let files, let free = files.freeDisk {
            facts.disk = HealthFacts.Disk(free: free, used: files.database + files.wal)
        }
        facts.sinks = sinks.map { slot in
            let circuit = slot.circuit
            var sink = HealthFacts.Sink(name: slot.name, condition: circuit.condition)
            (sink.downSince, sink.lastSuccess) = (past(circuit.downSince, now), past(slot.lastSuccess, now))
            (sink.circuit, sink.failure) = (circuit.state, circuit.lastReason)
            return sink
        }
        return facts
    }

    /// Reads what the database knows.
    private func read(_ status: inout AgentStatus, _ facts: inout HealthFacts, now: Timestamp) async throws {
        let snapshot = try await runtime.snapshot()
        status.identity = snapshot.identity.did.map(process.pseudonym.hash)
        let counts = try await fleet?.accounts.counts()
        facts.outbox = HealthFacts.Outbox(snapshot, options.outbox, accounts: counts?.active ?? 1)
        facts.outbox.oldestPending = past(snapshot.oldestPending, now)
        facts.outbox.oldestDue = past(runtime.dispatcher.oldestDue(in: snapshot), now)
        status.outbox.waiting = waiting(in: snapshot)
        for (index, sink) in sinks.enumerated() where sink.policy.isRequired {
            guard let held = snapshot.backlogs[sink.name]?.held(at: clock.now) else { continue }
            facts.sinks[index].held = .init(count: held.count, until: clock.local(held.until))
        }
        status.outbox.lastDay = AgentStatus.LastDay(try await process.store.status.ledgerOfLastDay(now: clock.now))
        if let fleet, let counts {
            let failures = try await fleet.accounts.failures()
            status.accounts = fleet.accounts.status(of: counts, failures)
            facts.isSignedOut = counts.active == 0
            facts.accounts = fleet.accounts.facts(counts, failures, now: now)
        } else {
            facts.isSignedOut = snapshot.identity.did == nil && !(options.polls.isEmpty && options.digests.isEmpty)
        }
        let canary = process.canaries?.facts(in: process.environment)
        // A canary needs somebody to get it: its account, or the active identity.
        let receiver = fleet == nil ? snapshot.identity.did : options.canary?.account
        facts.canary = receiver == nil ? nil : canary
        status.canary = canary.map(AgentStatus.Canary.init)
        let current = try await runtime.account.identity.current()
        let resumes = [await runtime.account.gate.circuit.nextTry, facts.hold?.until].compactMap(\.self).max()
        let silences = await runtime.rhythms?.silences(in: snapshot) ?? [:]
        facts.polls = runtime.polls.map { poll in
            let stream = snapshot.streams.first { $0.key.poll == poll.name }?.value
            // The waits of the server are none of a list's.
            let (resumes, hold) = poll.kind.isList ? (nil, nil) : (resumes, facts.hold)
            var facts = self.facts(of: poll, stream, current, holdSince: hold?.since, now: now)
            let earliest = [resumes, runtime.account.restEnd(of: poll.kind, now: now)].compactMap(\.self).max()
            facts.nextRun = facts.nextRun.map { max($0, earliest ?? $0) }
            facts.silence = silences[poll.name]
            return facts
        }
        status.digests = try await digests.status(of: snapshot.identity.did, isSignedOut: facts.isSignedOut)
        status.storage = AgentStatus.Storage(
            encrypted: await process.store.keys.isEncrypted,
            reencryption: await process.store.keys.resealProgress
        )
    }

    private func facts(
        of poll: Poll,
        _ stream: StreamSnapshot?,
        _ identity: IdentityContext.Snapshot,
        holdSince: Timestamp?,
        now: Timestamp
    ) -> HealthFacts.Poll {
        let (service, account) = (runtime.pollService, runtime.account)
        let track = service.track(poll)
        // Stored times can lie in the future if the clock was ahead.
        func past(_ time: Timestamp?) -> Timestamp? { time.map { min($0, now) } }
        var facts = HealthFacts.Poll(name: poll.name.rawValue, kind: poll.kind)
        let stored = CycleTimes(attempted: past(stream?.lastAttempt), succeeded: past(stream?.lastSuccess))
        facts.last = fleet?.lastCycle(of: poll) ?? stored
        (facts.lastOutcome, facts.lastNew) = (stream?.lastOutcome, past(stream?.lastNew))
        facts.nextRun = service.nextRun(poll) ?? stream?.nextRun
        facts.seenUntil = track.memory.seenUntil ?? stream?.seenUntil
        (facts.watermark, facts.fetchCursor) = (stream?.watermark?.timestamp, stream?.fetchCursor?.timestamp)
        let plans = track.memory.ownPlans
        (facts.ownPlans, facts.leavesPlansOut) = (plans?.asked, plans?.areCut ?? false)
        let (skip, tokenReason) = track.state.withLock { ($0.lastSkip, $0.lastTokenReason) }
        (facts.skip, facts.skippedSince) = (skip?.reason, skip?.since)
        facts.lastReason = tokenReason ?? stream?.lastReason
        if facts.lastReason != nil {
            // A cycle without a token is skipped and leaves no history.
            facts.failingSince = tokenReason == nil ? past(stream?.failingSince) : skip?.since
        }
        facts.backlog = track.memory.backlog
        // Before the questions below, because with many accounts none is active, and the server can still lack the endpoint.
        let lacksEndpoint = account.lacksEndpoint(of: poll.kind)
        facts.staleAfter = poll.staleAfter
        if identity.expects(poll.options), !lacksEndpoint {
            // A poll that never succeeded becomes stale after the agent has run for the stale limit.
            let since = identity.ageBegins(poll.kind, lastSuccess: stored.succeeded, startedAt: now - uptime)
            facts.staleSince = now - since > poll.staleAfter ? since + poll.staleAfter : nil
        }
        guard !identity.isOff(poll.options) else { return facts }
        facts.lacksEndpoint = lacksEndpoint
        guard identity.identity.did != nil else { return facts }
        facts.lacksStars = !identity.hasStars(for: poll.kind)
        facts.lacksToken = poll.kind.needsToken && account.api.tokens.isAnonymous || tokenReason != nil
        facts.isRefused = facts.needsAction && !facts.lacksToken
        guard !facts.lacksStars, !lacksEndpoint else { return facts }
        (facts.failures, facts.failure) = (stream?.failures ?? 0, stream?.lastReason)
        facts.stopsAtInvalidItems = poll.options.quarantineInvalid.isNever(validation: poll.options.validation)
        facts.interval = holdSince.flatMap { poll.schedule.interval(after: $0) }
        return facts
    }

    /// The notifications that wait for each sink.
    private func waiting(in snapshot: StoreSnapshot) -> [String: AgentStatus.Waiting] {
        let now = clock.now
        var waiting: [String: AgentStatus.Waiting] = [:]
        for sink in sinks {
            guard let backlog = snapshot.backlogs[sink.name] else { continue }
            let next = max(backlog.nextAttempt, sink.circuit.pause(at: now)?.until ?? backlog.nextAttempt)
            var wait = AgentStatus.Waiting(
                notifications: backlog.notifications,
                since: clock.local(backlog.oldestDue).iso8601,
                nextAttempt: clock.local(next).iso8601
            )
            wait.changes = backlog.rows
            if let held = backlog.held(at: now) {
                (wait.held, wait.heldUntil) = (held.count, clock.local(held.until).iso8601)
            }
            waiting[sink.name] = wait
        }
        return waiting
    }
}

extension HealthFacts.Outbox {
    /// - Parameter accounts: The number of active ones, each of which has its own room.
    init(_ snapshot: StoreSnapshot, _ options: OutboxOptions, accounts: Int) {
        self.init()
        func rows(_ state: OutboxState) -> Int { snapshot.rows[state] ?? 0 }
        (pending, claimed, delivered, dead) = (rows(.pending), rows(.claimed), rows(.delivered), rows(.dead))
        capacity = options.maxUndelivered * max(accounts, 1)
        pressure = PollGate.pressure(maxUndelivered: capacity, threshold: options.backpressureThreshold)
        (undelivered, quarantined) = (snapshot.undelivered, snapshot.quarantined)
        imbalance = snapshot.fetchedImbalance + snapshot.newImbalance
    }
}

import Glibc
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The status of the agent, computed from its parts and its database.
struct StatusReporter: Sendable {
    let runtime: AccountRuntime
    let digests: DigestControl
    let fleet: Fleet?

    private var process: AgentProcess { runtime.process }
    private var lifecycle: AgentLifecycle { process.lifecycle }
    private var options: AgentOptions { runtime.options }
    private var metrics: AgentMetrics { process.environment.metrics }
    private var clock: ServerClock { process.environment.clock }
    private var time: any TimeSource { process.environment.time }

    func status() async -> AgentStatus { await status(of: process.sinks) }

    func status(of sinks: [SinkSlot]) async -> AgentStatus {
        // By the local clock, like every age. What a server says of the time must not make data look fresh.
        let now = time.now
        let look = lifecycle.beginLook()
        var status = AgentStatus(version: AgentVersion.current, startedAt: startedAt(now), now: now)
        status.pid = Int(getpid())
        let health = HealthReader(runtime: runtime)
        var facts = await health.facts()
        fill(&status.clock)
        status.server.dialect = runtime.account.gate.known.dialect
        status.server.circuit = facts.serverCircuit.rawValue
        status.server.throttledUntil = facts.hold?.until?.iso8601
        status.server.answers = AgentStatus.Answers(facts.answers)
        await fillLimits(&status.server, now: now)
        status.memory = memory
        status.timeZones = AgentStatus.TimeZones(ZoneDatabase.ofMachine.data, LocalZone())
        status.disk = facts.disk.map(AgentStatus.Disk.init)
        status.certificates = Dictionary(
            uniqueKeysWithValues: facts.certificates.map { ($0.owner.word, $0.expiry.iso8601) }
        )
        status.restarts = AgentStatus.Restarts(facts.restarts, now: now)
        for slot in sinks { facts.sinks.append(fill(&status.outbox, from: slot, now: now)) }
        do {
            try await read(&status, &facts, sinks: sinks, now: now)
            facts.canReadStore = process.store.health.failure == nil
        } catch {
            facts.canReadStore = false
        }
        facts.storeFault = health.storeFault
        status.lastScrape = lifecycle.seen.lastScrape?.iso8601
        let lastPolls = metrics.contractPolls.compactMap { status.polls[$0.text]?.lastAttempt }
        status.pollingMetrics = metrics.summary(lastPoll: lastPolls.max())
        facts.outbox = status.outbox.facts(threshold: options.outbox.backpressureThreshold)
        let problems = lifecycle.follow(
            HealthDecision.problems(facts, now: now),
            of: look,
            // A cancelled look has not seen everything.
            isComplete: facts.canReadStore && !Task.isCancelled,
            now: now,
            logger: process.environment.logger
        )
        metrics.problems.show(problems)
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        status.notice = HealthDecision.notice(facts, now: now)
        return status
    }

    /// Reads what the database knows.
    private func read(
        _ status: inout AgentStatus,
        _ facts: inout HealthFacts,
        sinks: [SinkSlot],
        now: Timestamp
    ) async throws {
        let snapshot = try await runtime.snapshot()
        status.identity = snapshot.identity.did.map(process.pseudonym.hash)
        fill(&status.outbox, from: snapshot, now: now)
        status.outbox.waiting = waiting(in: snapshot, for: sinks)
        for (index, sink) in sinks.enumerated() where sink.policy.isRequired {
            guard let held = snapshot.backlogs[sink.name]?.held(at: clock.now) else { continue }
            facts.sinks[index].held = .init(count: held.rows, until: clock.local(held.until))
        }
        status.outbox.lastDay = lastDay(try await process.store.status.ledgerOfLastDay(now: clock.now))
        status.outbox.oldestDue = runtime.dispatcher.oldestDue(in: snapshot).map { past($0, now).iso8601 }
        let current = try await runtime.account.identity.current()
        if let fleet {
            let counts = try await fleet.accounts.counts()
            status.outbox.count(for: counts.active, threshold: options.outbox.backpressureThreshold)
            let failures = try await fleet.accounts.failures()
            status.accounts = fleet.accounts.status(of: counts, failures)
            facts.isSignedOut = counts.active == 0
            facts.accounts = fleet.accounts.facts(counts, failures, now: now)
        } else {
            facts.isSignedOut = snapshot.identity.did == nil && !(options.polls.isEmpty && options.digests.isEmpty)
        }
        facts.canary = snapshot.identity.did == nil ? nil : runtime.canary?.facts
        status.canary = runtime.canary.map { AgentStatus.Canary($0.facts) }
        let resumes = [await runtime.account.gate.circuit.nextTry, facts.hold?.until].compactMap(\.self).max()
        let silences = fleet == nil ? await runtime.rhythms.silences(in: snapshot) : [:]
        for poll in runtime.polls {
            let stream = snapshot.streams.first { $0.key.poll == poll.name }?.value
            // A poll that never succeeded becomes stale after the agent has run for the stale limit.
            // Stored times can lie in the future if the clock was ahead.
            let success = (stream?.lastSuccess).map { min($0, now) }
            let since = current.ageBegins(poll.kind, lastSuccess: success, startedAt: startedAt(now))
            var entry = entry(poll, stream, since: since, now: now, of: current)
            entry.delay(to: [resumes, runtime.account.restEnd(of: poll.kind, now: now)].compactMap(\.self).max())
            var pollFacts = self.facts(of: poll, entry, stream, current, holdSince: facts.hold?.since)
            pollFacts.silence = silences[poll.name]
            pollFacts.staleSince = entry.stale ? since + poll.staleAfter : nil
            status.polls[poll.name.rawValue] = entry
            facts.polls.append(pollFacts)
        }
        status.digests = try await digests.status(of: snapshot.identity.did)
        status.storage = AgentStatus.Storage(
            encrypted: await process.store.keys.isEncrypted,
            reencryption: await process.store.keys.resealProgress
        )
    }

    /// The facts about a poll that decide about the agent's health.
    private func facts(
        of poll: Poll,
        _ entry: AgentStatus.Poll,
        _ stream: StreamSnapshot?,
        _ identity: IdentityContext.Snapshot,
        holdSince: Timestamp?
    ) -> HealthFacts.Poll {
        var facts = HealthFacts.Poll(name: poll.name.rawValue)
        facts.isStale = entry.stale
        facts.backlog = runtime.pollService.backlog(poll.name)
        facts.failingSince = entry.failingSince.flatMap { Timestamp(iso8601: $0) }
        facts.skippedSince = entry.skippedSince.flatMap { Timestamp(iso8601: $0) }
        guard !identity.isOff(poll.options) else { return facts }
        // Before the next line, because with many accounts none is active, and the server can still lack the endpoint.
        facts.lacksEndpoint = runtime.account.lacksEndpoint(of: poll.kind)
        guard identity.identity.did != nil else { return facts }
        facts.lacksStars = !identity.hasStars(for: poll.kind)
        facts.lacksToken =
            poll.kind.needsToken && runtime.account.api.tokens.isAnonymous
            || runtime.pollService.lastTokenReason(poll.name) != nil
        facts.isRefused = entry.needsAction && !facts.lacksToken
        guard !facts.lacksStars, !facts.lacksEndpoint else { return facts }
        facts.failures = stream?.failures ?? 0
        facts.failure = stream?.lastReason
        facts.stopsAtInvalidItems = poll.options.quarantineInvalid.isNever(validation: poll.options.validation)
        facts.interval = holdSince.flatMap { poll.schedule.interval(after: $0) }
        return facts
    }

    /// The time that a gauge has; `nil` for none.
    private func time(_ gauge: Gauge) -> String? {
        gauge.value > 0 ? Timestamp(milliseconds: Int64(gauge.value * 1000)).iso8601 : nil
    }

    /// Converts a past time of the server's clock to the local one.
    private func past(_ time: Timestamp, _ now: Timestamp) -> Timestamp { min(clock.local(time), now) }

    /// The start of the agent, by the clock of `now`. The time between the two is how long the agent runs.
    private func startedAt(_ now: Timestamp) -> Timestamp { now - (time.boottime - process.startedAt) }

    /// Fills in how near the rate limit, the expiry of the token and the age of the key are.
    private func fillLimits(_ status: inout AgentStatus.Server, now: Timestamp) async {
        status.requestsLeft = await runtime.account.gate.remaining(now: now)
        status.tokenExpires = await runtime.account.api.tokens.expiry.map { clock.local($0).iso8601 }
        let created = metrics.clock.keyCreated.value
        status.keyCreated = created > 0 ? min(Timestamp(seconds: Int64(created)), now).iso8601 : nil
    }

    private var memory: AgentStatus.Memory? {
        ProcessMetrics.residentBytes.map { bytes in
            let uptime = time.boottime - process.startedAt
            return AgentStatus.Memory(
                residentBytes: bytes,
                settledBytes: lifecycle.seen.settledBytes(bytes, uptime: uptime)
            )
        }
    }

    private func fill(_ status: inout AgentStatus.Clock) {
        status.skewSeconds = clock.estimate?.offset.inSeconds.withoutNoise
        status.uncertaintySeconds = clock.estimate?.uncertainty.inSeconds.withoutNoise
        status.lastSync = clock.lastSync?.iso8601
        status.serverTime = clock.now.iso8601
    }

    /// Fills in the state of a sink, and returns the facts about it.
    private func fill(_ outbox: inout AgentStatus.Outbox, from slot: SinkSlot, now: Timestamp) -> HealthFacts.Sink {
        var health = slot.health
        health.downSince = health.downSince.map { past($0, now) }
        outbox.sinks[slot.name] =
            switch health.condition {
            case .disabled, .rejecting: health.condition.rawValue
            // The first attempt after a reload does not wait.
            case .down where slot.circuitState == .closed: CircuitState.halfOpen.rawValue
            case .down, .working: slot.circuitState.rawValue
            }
        outbox.sinkReasons[slot.name] = slot.lastReason?.description
        outbox.sinkLastSuccess?[slot.name] = slot.lastSuccess.map { past($0, now).iso8601 }
        return health
    }

    private func fill(_ outbox: inout AgentStatus.Outbox, from snapshot: StoreSnapshot, now: Timestamp) {
        outbox.pending = snapshot.rows[.pending] ?? 0
        outbox.claimed = snapshot.rows[.claimed] ?? 0
        outbox.delivered = snapshot.rows[.delivered] ?? 0
        outbox.dead = snapshot.rows[.dead] ?? 0
        outbox.quarantined = snapshot.quarantined
        outbox.givenUp = snapshot.undelivered
        outbox.capacity = options.outbox.maxUndelivered
        outbox.count(for: 1, threshold: options.outbox.backpressureThreshold)
        outbox.oldestPending = snapshot.ages.oldestPending.map { past($0, now).iso8601 }
        outbox.ledgerImbalance = snapshot.imbalance.fetched + snapshot.imbalance.new
    }

    /// The notifications that wait for each of these sinks.
    private func waiting(in snapshot: StoreSnapshot, for sinks: [SinkSlot]) -> [String: AgentStatus.Waiting] {
        let now = clock.now
        var waiting: [String: AgentStatus.Waiting] = [:]
        for sink in sinks {
            guard let backlog = snapshot.backlogs[sink.name] else { continue }
            let next = max(backlog.nextAttempt, sink.pause(at: now)?.until ?? backlog.nextAttempt)
            var wait = AgentStatus.Waiting(
                notifications: backlog.notifications,
                since: clock.local(backlog.oldestDue).iso8601,
                nextAttempt: clock.local(next).iso8601
            )
            wait.changes = backlog.rows
            if let held = backlog.held(at: now) {
                (wait.held, wait.heldUntil) = (held.rows, clock.local(held.until).iso8601)
            }
            waiting[sink.name] = wait
        }
        return waiting
    }

    private func lastDay(_ ledger: Ledger) -> AgentStatus.LastDay {
        var day = AgentStatus.LastDay()
        (day.stored, day.delivered) = (ledger.new, ledger.delivered)
        (day.acknowledged, day.failed) = (ledger.acknowledged, ledger.dead)
        return day
    }

    private func entry(
        _ poll: Poll,
        _ stream: StreamSnapshot?,
        since: Timestamp,
        now: Timestamp,
        of identity: IdentityContext.Snapshot
    ) -> AgentStatus.Poll {
        let isExpected = identity.expects(poll.options) && !runtime.account.lacksEndpoint(of: poll.kind)
        var entry = AgentStatus.Poll(
            kind: poll.kind,
            stale: isExpected && now - since > poll.staleAfter,
            staleAfterSeconds: poll.staleAfter.inSeconds
        )
        entry.lastAttempt = (stream?.lastAttempt).map { min($0, now).iso8601 }
        entry.lastSuccess = (stream?.lastSuccess).map { min($0, now).iso8601 }
        if fleet != nil {
            // With many accounts, the metrics have the last cycle of any of them.
            entry.lastAttempt = time(metrics.polls.lastAttempt[poll.label])
            entry.lastSuccess = time(metrics.polls.lastSuccess[poll.label])
        }
        entry.lastOutcome = stream?.lastOutcome?.rawValue
        entry.lastNew = (stream?.lastNew).map { min($0, now).iso8601 }
        entry.seenUntil = (runtime.pollService.seenUntil(poll.name) ?? stream?.seenUntil)?.iso8601
        entry.nextRun = (runtime.pollService.nextRun(poll) ?? stream?.nextRun)?.iso8601
        entry.watermarkTime = stream?.watermark?.timestamp.iso8601
        entry.fetchCursorTime = stream?.fetchCursor?.timestamp.iso8601
        if let plans = runtime.pollService.ownPlans(poll.name) {
            (entry.ownProjects, entry.projectsLeftOut) = (plans.asked, plans.areCut ? true : nil)
        }
        let skip = runtime.pollService.lastSkip(poll.name)
        (entry.skipReason, entry.skippedSince) = (skip?.reason, skip?.since.iso8601)
        if let reason = runtime.pollService.lastTokenReason(poll.name) ?? stream?.lastReason {
            entry.lastReason = reason.description
            entry.lastError = reason.sentence
            entry.needsAction = reason.needsAction
            // A cycle without a token is skipped and leaves no history.
            let hasToken = runtime.pollService.lastTokenReason(poll.name) == nil
            entry.failingSince = hasToken ? (stream?.failingSince).map { min($0, now).iso8601 } : entry.skippedSince
        }
        return entry
    }
}

extension AgentStatus.Poll {
    /// Delays ``nextRun`` to the time at which the next request can be sent.
    fileprivate mutating func delay(to earliest: Timestamp?) {
        guard let earliest, let next = nextRun.flatMap({ Timestamp(iso8601: $0) }) else { return }
        nextRun = max(next, earliest).iso8601
    }
}

extension AgentStatus.Outbox {
    /// Multiplies ``capacity``, which is that of one account, by the number of accounts.
    fileprivate mutating func count(for accounts: Int, threshold: Double) {
        capacity *= max(accounts, 1)
        backpressure = PollGate.isUnderPressure(
            openRows: pending + claimed,
            maxUndelivered: capacity,
            threshold: threshold
        )
    }

    fileprivate func facts(threshold: Double) -> HealthFacts.Outbox {
        var facts = HealthFacts.Outbox()
        facts.open = pending + claimed
        facts.capacity = capacity
        facts.isUnderPressure = backpressure
        facts.pressure = PollGate.pressure(maxUndelivered: capacity, threshold: threshold)
        facts.dead = dead
        facts.undelivered = givenUp
        facts.quarantined = quarantined
        facts.imbalance = ledgerImbalance
        return facts
    }
}

extension AgentMetrics {
    /// The summary, computed from the metrics.
    ///
    /// - Parameter lastPoll: The stored time of the last attempt.
    fileprivate func summary(lastPoll: String?) -> PollingMetrics {
        var summary = PollingMetrics()
        summary.lastPollTimestamp = lastPoll
        guard !contractPolls.isEmpty else { return summary }
        func sum(_ vector: MetricVector1<ConfiguredName, Counter>) -> Int {
            contractPolls.reduce(0) { $0 + Int(vector[$1].value) }
        }
        summary.pollsTotal = sum(polls.attempts)
        summary.pollsSuccessful = sum(polls.successes)
        summary.pollsFailed = sum(polls.failures)
        summary.changesFound = sum(polls.changesFound)
        let notifications = contractPolls.flatMap { outbox.notifications.all($0) }
        summary.notificationsGenerated = notifications.reduce(0) { $0 + Int($1.value) }
        summary.throttlesHit = Int(api.requests[Self.contractEndpoint, .rateLimited].value)
        let latency = api.latency[Self.contractEndpoint]
        let requests = latency.counts.reduce(0, +)
        if requests > 0 { summary.averageResponseTime = (latency.sum / Double(requests)).withoutNoise }
        return summary
    }
}

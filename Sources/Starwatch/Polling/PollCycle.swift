import Logging
import StarwatchCore
package import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// One poll cycle: it decides whether it can run, then a ``CycleRun`` fetches, validates and stores the pages.
///
/// A class, because each copy of its values takes 600 instructions (callgrind, `Benchmarks/instructions`).
package final class PollCycle: Sendable {
    let poll: Poll
    /// The service of the account's cycles, which has what they share.
    let service: PollService
    let memory: WalkMemory
    let runID: String
    /// The next scheduled run, stored with the cycle.
    let nextRun: Timestamp?
    /// Whether an answer that other accounts share will do, as for a scheduled run.
    let shares: Bool

    init(
        poll: Poll,
        of service: PollService,
        memory: WalkMemory = WalkMemory(),
        runID: String,
        nextRun: Timestamp?,
        shares: Bool = false
    ) {
        (self.poll, self.service, self.memory, self.runID, self.nextRun) = (poll, service, memory, runID, nextRun)
        self.shares = shares || nextRun != nil
    }

    var store: Store { service.environment.store }
    var identity: IdentityContext { service.account.identity }
    var api: EndorserAPI { poll.server ?? service.account.api }
    var gate: Gate { api.gate }
    var outbox: OutboxOptions { service.options.outbox }
    var metrics: AgentMetrics { service.environment.metrics }
    var clock: ServerClock { service.environment.clock }
    var time: any TimeSource { service.environment.time }

    /// Runs the cycle. It never throws: a failure is a result, and pages fetched before it are kept.
    ///
    /// It runs on the gate, which most steps use. From elsewhere each use would take jobs of the executor: 23 for an
    /// unchanged cycle, not 7 (callgrind, `Benchmarks/poll cycles`).
    ///
    /// - Parameter gate: The gate of the poll's server.
    package func run(on gate: isolated Gate) async -> Result {
        await Trace.span(.cycle) { span in
            let result = await steps()
            guard let span else { return result }
            span.set(.poll, poll.name)
            span.set(.runID, run: runID)
            if let skip = result.skip {
                span.set(.outcome, skip)
            } else if let outcome = result.outcome, outcome != .failed {
                span.set(.outcome, outcome)
            } else {
                span.fail(PollOutcome.failed)
            }
            span.set(.fetched, result.fetched)
            span.set(.new, result.new)
            return result
        }
    }

    /// The requests that the account shares with others; `nil`: it asks alone.
    var sharing: SharedRequests? { service.sharing[poll.kind] }

    /// Notes that an account takes no part in shared requests. A poll that is off for all is in no round.
    private func noteRest(of stream: StreamKey, _ skip: SkipReason?) {
        guard poll.options.isEnabled, skip == .noStars || skip == .optedOut else { return }
        sharing?.noteSeen([], of: stream, at: time.boottime)
    }

    private func steps() async -> Result {
        let begun = time.monotonic
        do throws(StoreError) {
            let snapshot = try await identity.current()
            let stream = stream(of: snapshot)
            let state: PollState? = if let stream { try await readState(stream) } else { nil }
            if let skipped = await skip(snapshot, state: state) {
                if skipped.lacksToken, let stream, identity.served != nil {
                    try await recordMissingToken(of: stream, skipped.failure?.cause, plannedBefore: state?.nextRun)
                } else {
                    recordSkip(of: stream, plannedBefore: state?.nextRun)
                }
                if let stream { noteRest(of: stream, skipped.skip) }
                return skipped
            }
            guard let stream, let state else { return Result(skip: .noIdentity) }
            if state.generation != snapshot.identity.generation {
                identity.invalidate()
                return Result(skip: .overlap)
            }
            let startedAt = time.now
            guard await gate.begin(now: startedAt) else {
                recordSkip(of: stream, plannedBefore: state.nextRun)
                return Result(skip: .circuitOpen)
            }
            metrics.polls.attempts[poll.label].increment()
            service.lastCycles.noteAttempt(of: poll, at: startedAt)
            metrics.polls.inFlight[poll.label].set(1)
            defer { metrics.polls.inFlight[poll.label].set(0) }
            var run = CycleRun(self, stream, snapshot: snapshot, state: state)
            do throws(Stop) {
                if poll.kind.isList {
                    try await ListRun(self).fetchAndStore(&run)
                } else {
                    try await run.fetchAndStore()
                }
            } catch { await run.stop(error) }
            let result = await run.finish(startedAt: startedAt, begun: begun)
            if result.skip != nil { recordSkip(of: stream, plannedBefore: state.nextRun) }
            return result
        } catch {
            log(.pollStoreFailed, [.error: "\(error.description)"])
            let (outcome, reason) = (PollOutcome.failed.rawValue, FailureReason(.database).description)
            memory.runs.add(RecentRun(runID: runID, poll: poll.name, at: time.now, outcome: outcome, reason: reason))
            return Result(storeFailure: "The database could not be read.")
        }
    }

    /// Asks for the poll's next page with the agent's own token and within the server's limits. Stores nothing of the
    /// answer.
    func trial() async -> Result {
        do throws(StoreError) {
            let snapshot = try await identity.current()
            guard let stream = stream(of: snapshot) else { return Result(skip: .noIdentity) }
            let state = try await store.polls.state(stream, maxUndelivered: outbox.maxUndelivered)
            if let skipped = await skip(snapshot, state: state) { return skipped }
            var result = Result()
            do throws(Stop) {
                result.fetched = try await tryPage(of: stream, snapshot, after: state.fetchCursor)
                result.outcome = result.fetched > 0 ? .changed : .unchanged
            } catch {
                result.describe(error)
                if missesEndpoint(error) { result = Result(skip: .endpointMissing) }
            }
            return result
        } catch {
            return Result(storeFailure: error.description)
        }
    }

    /// - Parameter cursor: The poll's cursor. What the poll has passed says nothing about the server's present.
    /// - Returns: The number of items. A page of an unknown dialect is left to the next cycle, which finds out the dialect.
    private func tryPage(
        of stream: StreamKey,
        _ snapshot: IdentityContext.Snapshot,
        after cursor: JWTID?
    ) async throws(Stop) -> Int {
        let known = gate.known.dialect
        let dialect = known ?? api.assumedDialect
        let decoder = PageDecoder(
            dialect: dialect,
            kind: poll.kind,
            validation: poll.options.validation,
            quarantine: true
        )
        var source = PageSource(cycle: self, stream: stream, decoder: decoder)
        if poll.kind.isList { return try await ListRun(self).tryPage(of: &source) }
        var plans = NamedPlans(poll)
        if poll.kind.scope == .ownPlans { plans.own = try await source.ownClaims() }
        let chunk = plans.split(snapshot, in: dialect).first
        if chunk == nil, plans.own != nil { return 0 }
        let answer = try await source.request(
            PageQuery(
                after: cursor?.kind == known?.idKind ? cursor : nil,
                limit: dialect == .canonical ? dialect.pageSize : nil
            ),
            for: chunk,
            // Both dialects read this one.
            startCursor: known == nil ? Dialect.canonical.startCursor : nil
        )
        return known == nil ? 0 : try await source.page(of: answer).fetched
    }

    /// Whether a cycle ended because the server lacks an endpoint that it need not have. One that has answered in this run is
    /// not lacking: its 404 is a failure, such as that of a proxy.
    ///
    /// - Parameter endpoint: The endpoint that answered; `nil`: that of the poll's kind.
    func missesEndpoint(_ stop: Stop, at endpoint: Endpoint? = nil) -> Bool {
        guard case .request(.failed(let failure)) = stop, failure.result == .notFound else { return false }
        return poll.kind.endpoint.isOptional && !gate.known.hasFound(endpoint ?? poll.kind.endpoint)
    }

    /// A request for a page.
    ///
    /// - Parameter account: The account whose token it has; `nil` for a request that accounts share.
    func request(
        _ query: PageQuery,
        for chunk: PlanChunk?,
        of account: DID?,
        startCursor: String
    ) -> EndorserRequest {
        var request = request(poll.kind.endpoint, of: account)
        if let chunk, poll.kind.planForm == .body {
            request.method = .post
            request.body = query.body(for: chunk, startCursor: startCursor)
            request.idempotencyKey = RandomID.uuid()
        } else {
            request.query = query.items(of: poll.kind, for: account, plans: chunk, startCursor: startCursor)
        }
        return request
    }

    /// A request of this cycle.
    func request(_ endpoint: Endpoint, of account: DID?) -> EndorserRequest {
        var request = EndorserRequest(endpoint, of: account, runID: runID)
        request.poll = poll.name
        if let attempts = service.options.server.retryAttempts { request.retries = .attempts(attempts) }
        return request
    }

    private func stream(of snapshot: IdentityContext.Snapshot) -> StreamKey? {
        snapshot.identity.did.map { service.account.stream(of: poll, for: $0) }
    }

    private func skip(_ snapshot: IdentityContext.Snapshot, state: PollState?) async -> Result? {
        let now = time.now
        var gate = PollGate(
            hasIdentity: snapshot.identity.did != nil,
            hasStars: snapshot.hasStars(for: poll.kind),
            optedOut: snapshot.isOff(poll.options),
            notBefore: await gate.hold(now: now)?.until,
            circuitIsOpen: !(await gate.isReady(now: now)),
            isUnderPressure: PollGate.isUnderPressure(
                openRows: state?.openRows ?? 0,
                maxUndelivered: outbox.maxUndelivered,
                threshold: outbox.backpressureThreshold
            )
        )
        // An operator's run tries again at once.
        gate.lacksEndpoint = nextRun != nil && poll.kind.endpoints.contains { self.gate.known.rests($0, now: now) }
        metrics.outbox.backpressure.set(gate.isUnderPressure)
        if let reason = gate.skip(at: now) { return Result(skip: reason) }
        // The token check comes last, because it can read a file or run a command.
        guard let account = snapshot.identity.did,
            let error = await api.tokenError(for: account, kind: poll.kind, runID: runID)
        else { return nil }
        // Only a reload can end a missing configuration, so it is no reason to retry soon.
        let lacksToken = error != .notConfigured
        return Result(skip: .noToken, failure: APIFailure(noToken: error), lacksToken: lacksToken)
    }

    /// Stores the next run after a skipped one, so that the next start does not take the skipped runs for missed ones.
    ///
    /// - Parameter former: The stored next run.
    private func recordSkip(of stream: StreamKey?, plannedBefore former: Timestamp?) {
        guard let stream, let nextRun, nextRun != former else { return }
        var record = CycleRecord(stream: stream, runID: runID, finishedAt: time.now)
        record.nextRun = nextRun
        store.polls.recordUnchanged(record)
    }

    /// Stores that a scheduled run of one of many accounts got no token. No runtime remembers it until the next visit.
    ///
    /// - Parameter former: The stored next run. A retry has the same and is not stored, because there can be very many.
    private func recordMissingToken(
        of stream: StreamKey,
        _ cause: FailureReason?,
        plannedBefore former: Timestamp?
    ) async throws(StoreError) {
        guard let nextRun, nextRun != former else { return }
        let now = time.now
        var record = CycleRecord(stream: stream, runID: runID, finishedAt: now, outcome: .failed)
        (record.nextRun, record.reason) = (nextRun, cause)
        try await store.polls.finishCycle(record)
    }

    /// The cursor that a cycle starts from: the stored one, or that of a first run which announces the last week; `nil` for
    /// all that the server has. Where pages go by rows, the newest identifier can be in any, so a first run reads a week too.
    func cursor(of state: PollState, in dialect: Dialect) -> JWTID? {
        if let stored = state.fetchCursor { return stored }
        let bootstrap = poll.options.bootstrap
        guard bootstrap == .lastWeek || bootstrap == .latest && poll.kind.walksRows, !state.bootstrapped else {
            return nil
        }
        return JWTID.floor(dialect.idKind, at: clock.now - .seconds(7 * 86_400))
    }

    /// How far a stream was seen. At first it is what an earlier run has stored.
    func horizon(of stream: StreamKey, _ state: PollState) -> SeenHorizon {
        memory.horizon(of: stream) {
            guard let success = state.lastSuccess else { return SeenHorizon() }
            // The stored times of cycles are the local clock's.
            let age = time.now - min(success, state.lastAttempt ?? success)
            return SeenHorizon(stored: state.seenUntil, age: age, kept: outbox.keepDelivered, at: time.boottime)
        }
    }

    /// The success of a stream's walk that has seen every page, with how far the stream was seen then.
    func success(of stream: StreamKey, _ state: PollState) -> CycleRecord {
        var horizon = horizon(of: stream, state)
        horizon.complete()
        let now = time.now
        var record = CycleRecord(stream: stream, runID: runID, finishedAt: now)
        (record.successAt, record.seenUntil) = (now, horizon.time)
        return record
    }

    /// Reads the state that the cycle needs. If the outbox exceeds its limit, for example after the limit was lowered,
    /// rows are evicted first.
    func readState(_ stream: StreamKey) async throws(StoreError) -> PollState {
        // Most polls have written nothing since their last cycle, so the remembered state is current.
        if let state = store.polls.rememberedState(stream, maxUndelivered: outbox.maxUndelivered) { return state }
        let state = try await store.polls.state(stream, maxUndelivered: outbox.maxUndelivered)
        guard state.openRows > outbox.maxUndelivered else { return state }
        let evicted = try await store.outbox.evict(
            outbox.eviction,
            of: stream.account,
            server: stream.server,
            maxUndelivered: outbox.maxUndelivered,
            now: clock.now
        )
        if evicted > 0 { log(.outboxEvicted, [.rowCount: .number(evicted)]) }
        return try await store.polls.state(stream, maxUndelivered: outbox.maxUndelivered)
    }

    /// Logs an event of this cycle.
    ///
    /// - Parameter request: The cycle's last request, for the events that are about it.
    func log(
        _ event: AgentEvent,
        _ fields: @autoclosure () -> AgentEvent.Fields = [:],
        of request: RequestTrace? = nil
    ) {
        service.environment.logger.log(
            event,
            fields().merging([.runID: "\(runID)", .poll: "\(poll.name.rawValue)"]) { $1 }
                .merging(event.optionalFields.contains(.requestID) ? AgentEvent.fields(of: request) : [:]) { $1 }
        )
    }
}

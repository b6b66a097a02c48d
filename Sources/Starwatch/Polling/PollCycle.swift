import Logging
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// One poll cycle: gate, bootstrap, fetch, validate, commit.
package final class PollCycle: Sendable {
    /// Result of a cycle.
    package struct Result: Sendable, Hashable {
        /// Outcome; `nil` if the cycle was skipped.
        package var outcome: PollOutcome?
        package var skip: SkipReason?
        /// Failure class; `nil` unless a request failed.
        package var failure: FailureClass?
        /// Reason for the failure as one fixed sentence; `nil` otherwise.
        package var reason: String?
        /// The same from a closed set; also for a cycle that was skipped because it has no token.
        package var cause: FailureReason?
        /// `true` if the cycle failed or was skipped because it could not get a token.
        package var lacksToken = false
        /// `true` if the cycle failed because of the database.
        package var isStoreFailure = false
        /// `true` if changes were left at the server because the outbox has no room.
        package var isOutOfRoom = false
        /// Time at which a deferred cycle can resume.
        package var resumeAt: Timestamp?
        package var fetched = 0
        package var new = 0
        /// Number of changes that are stored and not announced.
        package var suppressed = 0
        /// Number of evicted changes that were fetched again.
        package var refetched = 0
        package var hasSucceeded: Bool { outcome == .changed || outcome == .unchanged || outcome == .bootstrapped }
        /// `true` if there is something to deliver.
        package var hasStored: Bool { new + refetched > 0 }
        /// `true` if the fetch cursor moved, so the watermark can possibly follow.
        package var cursorMoved = false
        /// `true` if a page was rejected for its items or its bytes, so that setting one item aside can help.
        package var isPageRefused = false
        /// Number of items that were set aside.
        package var rejected = 0
    }

    /// Dependencies shared by all cycles of an account.
    package struct Shared: Sendable {
        package let environment: Environment
        package let store: Store
        package let account: Account
        package let outbox: OutboxOptions
        /// Time limit for requesting further pages in one cycle.
        package var longestCycle = LimitOptions().cycle
        /// Whether the account's own claims are announced.
        package var announcesOwn = DeliveryOptions().announceOwn
    }

    let poll: Poll
    let shared: Shared
    let memory: WalkMemory
    let runID: String
    /// The next scheduled run, stored with the cycle.
    let nextRun: Timestamp?
    private let requests = Mutex((count: 0, last: RequestTrace?.none))

    init(
        poll: Poll,
        shared: Shared,
        memory: WalkMemory = WalkMemory(),
        runID: String,
        nextRun: Timestamp?
    ) {
        self.poll = poll
        self.shared = shared
        self.memory = memory
        self.runID = runID
        self.nextRun = nextRun
    }

    var store: Store { shared.store }
    var identity: IdentityContext { shared.account.identity }
    var api: EndorserAPI { shared.account.api }
    var gate: Gate { shared.account.gate }
    var outbox: OutboxOptions { shared.outbox }
    var metrics: AgentMetrics { shared.environment.metrics }
    var clock: ServerClock { shared.environment.clock }
    var time: any TimeSource { shared.environment.time }
    var logger: Logger { shared.environment.logger }
    /// The identifiers of the cycle's last request; `nil` before the first.
    var lastRequest: RequestTrace? { requests.withLock(\.last) }

    /// Notes a request and returns its number, from 1.
    func note(_ trace: RequestTrace?) -> Int {
        requests.withLock { requests in
            requests.count += 1
            requests.last = trace ?? requests.last
            return requests.count
        }
    }

    /// Reason for a walk to stop.
    enum Stop: Error {
        case request(RequestEnd)
        case page(PageRejection)
        case staleIdentity
        case interestsChanged
        case store(StoreError)

        /// `true` if the bytes of a page are not JSON, or too many, so that a part of it can be readable.
        var isUnreadable: Bool {
            guard case .request(.failed(let failure)) = self else { return false }
            return failure.result == .tooLarge
                || failure.result == .malformed && failure.status.map { (200..<300).contains($0) } ?? false
        }

        /// The failure to report to the circuit. A local failure says nothing about the server.
        var circuitFailure: FailureClass {
            switch self {
            case .request(let end): end.circuitFailure ?? .refused
            case .page: .malformed
            case .staleIdentity, .interestsChanged, .store: .cancelled
            }
        }
    }

    /// Runs the cycle. It never throws: a failure is a result, and pages fetched before it are kept.
    package func run() async -> Result { await run(on: gate) }

    /// Runs on the gate, which most steps use. From elsewhere each use would take jobs of the executor: 23 for an unchanged
    /// cycle, not 7 (callgrind, `Benchmarks/poll cycles`).
    private func run(on gate: isolated Gate) async -> Result {
        await Trace.span(.cycle) { span in
            let result = await runOnce()
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

    private func runOnce() async -> Result {
        let start = time.monotonic
        do {
            let snapshot = try await identity.current()
            let did = snapshot.identity.did
            let stream = did.map { StreamKey(account: $0, server: gate.server, poll: poll.name) }
            var state: PollState?
            if let stream { state = try await readState(stream) }
            if let skipped = await skip(snapshot, state: state) {
                recordSkip(of: stream, plannedBefore: state?.nextRun)
                return skipped
            }
            guard let stream, let state else { return Result(skip: .noIdentity) }
            if state.generation != snapshot.identity.generation {
                identity.invalidate()
                return Result(skip: .overlap)
            }
            guard await gate.begin(now: time.now) else {
                recordSkip(of: stream, plannedBefore: state.nextRun)
                return Result(skip: .circuitOpen)
            }
            return await attempt(stream, state: state, snapshot: snapshot, start: start)
        } catch {
            note(.pollStoreFailed, [.error: "\(error.description)"])
            return Result(
                outcome: .failed,
                reason: "The database could not be read.",
                cause: FailureReason(.database),
                isStoreFailure: true
            )
        }
    }

    func skip(_ snapshot: IdentityContext.Snapshot, state: PollState?) async -> Result? {
        let now = time.now
        let gate = PollGate(
            hasIdentity: snapshot.identity.did != nil,
            hasStars: snapshot.hasStars(for: poll.kind),
            optedOut: snapshot.optedOut.contains(poll.kind),
            notBefore: await gate.heldUntil(now: now),
            circuitIsOpen: !(await gate.isReady(now: now)),
            isUnderPressure: PollGate.isUnderPressure(
                openRows: state?.openRows ?? 0,
                maxUndelivered: outbox.maxUndelivered,
                threshold: outbox.backpressureThreshold
            )
        )
        metrics.outbox.backpressure.set(gate.isUnderPressure)
        if let reason = gate.skip(at: now) { return Result(skip: reason) }
        // The token check comes last, because it can read a file or run a command.
        guard let account = snapshot.identity.did,
            let error = await api.tokenError(for: account, kind: poll.kind, runID: runID)
        else { return nil }
        // Only a reload can end a missing configuration, so it is no reason to retry soon.
        let lacksToken = error != .notConfigured
        return Result(skip: .noToken, cause: FailureReason(error.cause), lacksToken: lacksToken)
    }

    /// Reads the state that the cycle needs. If the outbox exceeds its limit, for example after the limit was lowered,
    /// rows are evicted first.
    func readState(_ stream: StreamKey) async throws(StoreError) -> PollState {
        // Most polls have written nothing since their last cycle, so the remembered state is current.
        if let state = store.rememberedPollState(stream, maxUndelivered: outbox.maxUndelivered) { return state }
        let state = try await store.pollState(stream, maxUndelivered: outbox.maxUndelivered)
        guard state.openRows > outbox.maxUndelivered else { return state }
        let evicted = try await store.evict(
            outbox.eviction,
            server: stream.server,
            maxUndelivered: outbox.maxUndelivered,
            now: clock.now
        )
        if evicted > 0 { note(.outboxEvicted, [.rowCount: .number(evicted)]) }
        return try await store.pollState(stream, maxUndelivered: outbox.maxUndelivered)
    }

    private func attempt(
        _ stream: StreamKey,
        state: PollState,
        snapshot: IdentityContext.Snapshot,
        start: Duration
    ) async -> Result {
        // The times of a cycle are the local clock's, because ages are made of them.
        let startedAt = time.now
        metrics.polls.attempts[poll.label].increment()
        metrics.polls.lastAttempt[poll.label].set(startedAt.seconds)
        metrics.polls.inFlight[poll.label].set(1)
        defer { metrics.polls.inFlight[poll.label].set(0) }

        var result = Result()
        var state = state
        var circuitFailure: FailureClass?
        do {
            let isWhole = try await fetchAll(stream, state: &state, snapshot: snapshot, into: &result)
            if isWhole && !state.bootstrapped && poll.options.bootstrap == .latest {
                result.outcome = .bootstrapped
            } else {
                result.outcome = result.new > 0 ? .changed : .unchanged
            }
        } catch {
            circuitFailure = error.circuitFailure
            describe(error, in: &result)
            await react(to: error)
        }
        await api.followClock()
        await gate.end(circuitFailure, now: time.now)
        let duration = time.monotonic - start
        await finish(stream, result, startedAt: startedAt, duration: duration, formerRefusals: state.refusedPages)
        log(
            result,
            outcome: result.outcome ?? .failed,
            duration: duration,
            of: stream.account,
            projects: poll.kind == .starredProjects ? snapshot.stars.count : 0
        )
        return result
    }

    // MARK: - Ending

    /// Says in the result why the walk stopped.
    func describe(_ stop: Stop, in result: inout Result) {
        result.outcome = .failed
        if case .page(let rejection) = stop { result.isPageRefused = rejection.isOfItems }
        if stop.isUnreadable { result.isPageRefused = true }
        switch stop {
        case .request(.deferred(let until, let failure)):
            result.outcome = .deferred
            result.cause = failure?.cause ?? FailureReason(.rateLimit)
            result.resumeAt = until
            result.reason = result.cause?.sentence
        case .request(.failed(let failure)):
            result.failure = failure.failureClass
            result.reason = failure.reason
            result.cause = failure.cause
            if failure.failureClass == .cancelled { result.outcome = .cancelled }
        case .request(.noToken(let error)):
            result.failure = .unauthenticated
            result.lacksToken = true
            result.cause = FailureReason((error as? TokenError)?.cause ?? .noToken)
            result.reason = (error as? TokenError)?.description ?? result.cause?.sentence
        case .request(.answer), .request(.unstored): result.reason = nil
        case .page(let rejection):
            result.failure = .malformed
            result.cause = FailureReason(.contract)
            result.reason =
                "The server's answer broke its contract (\(rejection.violation.rawValue))."
        case .staleIdentity, .interestsChanged:
            result.outcome = .cancelled
            result.failure = .cancelled
            result.cause = FailureReason(.identityChanged)
            result.reason = result.cause?.sentence
        case .store(let error):
            result.isStoreFailure = true
            result.cause = FailureReason(.database)
            result.reason = error.description
        }
    }

    /// Counts and logs what broke the contract, and waits or doubts what is known where the stop asks for it.
    private func react(to stop: Stop) async {
        switch stop {
        case .request(.failed(let failure)):
            if failure.result == .malformed {
                metrics.polls.violations[poll.label, .schema].increment()
                noteViolation(.schema, ValidationIssue(path: "$", problem: .invalid))
            }
            if failure.failureClass == .unauthenticated {
                await api.followClock()
                await gate.hold(until: time.now + RetryDecision.waitAfterRefusedToken, now: time.now)
            }
            // The server rejects a cursor of another dialect.
            if failure.result == .badRequest, failure.status == 400 { await gate.doubtDialect(now: time.now) }
        case .page(let rejection):
            metrics.polls.violations[poll.label, rejection.violation].increment()
            for issue in rejection.issues.prefix(10) { noteViolation(rejection.violation, issue) }
        case .staleIdentity, .interestsChanged: identity.invalidate()
        case .request, .store: break
        }
    }

    private func noteViolation(_ violation: ContractViolation, _ issue: ValidationIssue) {
        note(
            .pollContractViolation,
            [.kind: "\(violation.rawValue)", .path: "\(issue.path)", .problem: "\(issue.problem.rawValue)"]
        )
    }

    private func finish(
        _ stream: StreamKey,
        _ result: Result,
        startedAt: Timestamp,
        duration: Duration,
        formerRefusals: Int
    ) async {
        let now = time.now
        let outcome = result.outcome ?? .failed
        let hasSucceeded = result.hasSucceeded
        let exemplar = Exemplar(runID: runID, atMilliseconds: now.milliseconds)
        metrics.polls.outcomes[poll.label, outcome].increment()
        metrics.polls.duration[poll.label].observe(duration, exemplar: exemplar)
        if hasSucceeded {
            metrics.polls.successes[poll.label].increment()
            metrics.polls.lastSuccess[poll.label].set(now.seconds)
        } else if outcome == .failed {
            metrics.polls.failures[poll.label].increment(exemplar: exemplar)
            metrics.polls.failureReasons[poll.label, result.cause?.label ?? .other].increment()
        }
        var record = CycleRecord(
            stream: stream,
            runID: runID,
            startedAt: startedAt,
            finishedAt: now,
            outcome: outcome
        )
        record.successAt = hasSucceeded ? now : nil
        record.nextRun = nextRun
        record.seenUntil = memory.seenUntil(of: stream)
        record.newRows = result.new
        record.reason = hasSucceeded ? nil : result.cause
        if result.isPageRefused {
            record.refusedPages = formerRefusals + 1
        } else if hasSucceeded, formerRefusals > 0, result.rejected == 0 {
            record.refusedPages = 0
        }
        if outcome == .unchanged, record.refusedPages == nil {
            store.recordUnchanged(record)
        } else {
            do {
                try await store.finishCycle(record)
            } catch {
                note(.pollStoreFailed, [.error: "\(error.description)"])
            }
        }
    }
}

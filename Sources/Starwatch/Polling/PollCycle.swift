import Logging
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// One cycle of one poll: gate, bootstrap, fetch, check, commit.
package final class PollCycle: Sendable {
    /// How a cycle ended.
    package struct Result: Sendable, Hashable {
        /// `nil` when it was skipped.
        package var outcome: PollOutcome?
        package var skip: SkipReason?
        /// The class of the failure; `nil` when it did not fail at a request.
        package var failure: FailureClass?
        /// One fixed sentence on why it failed; `nil` otherwise.
        package var reason: String?
        /// Whether it failed because the database did.
        package var isStoreFailure = false
        /// Whether changes were left at the server, because the outbox has no room for them.
        package var isOutOfRoom = false
        /// When a deferred cycle may go on.
        package var resumeAt: Timestamp?
        package var fetched = 0
        package var new = 0
        /// What was evicted and has come again.
        package var refetched = 0
        /// Whether there is something to deliver.
        package var hasStored: Bool { new + refetched > 0 }
        /// Whether the fetch cursor rose, which may let the watermark follow.
        package var cursorMoved = false
    }

    /// The surroundings of all cycles of an account.
    package struct Shared: Sendable {
        package let environment: Environment
        package let store: Store
        package let account: Account
        package let outbox: OutboxOptions
        /// The longest time in which a cycle still asks for pages.
        package let longestCycle: Duration

        package init(
            environment: Environment,
            store: Store,
            account: Account,
            outbox: OutboxOptions,
            longestCycle: Duration = LimitOptions().cycle
        ) {
            self.environment = environment
            self.store = store
            self.account = account
            self.outbox = outbox
            self.longestCycle = longestCycle
        }
    }

    let poll: Poll
    private let shared: Shared
    let pages: PageMemory
    let runID: String
    /// The next scheduled run, stored with the cycle.
    private let nextRun: Timestamp?

    init(
        poll: Poll,
        shared: Shared,
        pages: PageMemory = PageMemory(),
        runID: String,
        nextRun: Timestamp?
    ) {
        self.poll = poll
        self.shared = shared
        self.pages = pages
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

    /// Why a walk could not go on.
    enum Stop: Error {
        case request(RequestEnd)
        case page(PageRejection)
        case staleIdentity
        case interestsChanged
        case store(StoreError)
    }

    /// Runs the cycle. Never throws: a failure is a result, and nothing it fetched before is lost.
    package func run() async -> Result {
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
            if let skip = await skip(snapshot, state: state) { return Result(skip: skip) }
            guard let stream, let state else { return Result(skip: .noIdentity) }
            if state.generation != snapshot.identity.generation {
                identity.invalidate()
                return Result(skip: .overlap)
            }
            guard await gate.begin(now: time.now) else { return Result(skip: .circuitOpen) }
            return await attempt(stream, state: state, snapshot: snapshot, start: start)
        } catch {
            note(.pollStoreFailed, [.error: "\(error.description)"])
            return Result(outcome: .failed, reason: "The database could not be read.", isStoreFailure: true)
        }
    }

    private func skip(_ snapshot: IdentityContext.Snapshot, state: PollState?) async -> SkipReason? {
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
        if let reason = gate.skip(at: now) { return reason }
        // Last, because it may read a file or run a command.
        if let account = snapshot.identity.did, !(await api.hasToken(for: account)) { return .noToken }
        return nil
    }

    /// What the cycle has to know. An outbox over its limit, which a smaller limit can make, is brought below it first.
    func readState(_ stream: StreamKey) async throws(StoreError) -> PollState {
        // Nothing was written since the last cycle of most polls: then there is nothing to read.
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
        let startedAt = clock.now
        metrics.polls.attempts[poll.label].increment()
        metrics.polls.lastAttempt[poll.label].set(clock.local(startedAt).seconds)
        metrics.polls.inFlight[poll.label].set(1)
        defer { metrics.polls.inFlight[poll.label].set(0) }

        var result = Result()
        var state = state
        do {
            let isWhole = try await fetchAll(stream, state: &state, snapshot: snapshot, into: &result)
            if isWhole && !state.bootstrapped && poll.options.bootstrap == .latest {
                result.outcome = .bootstrapped
            } else {
                result.outcome = result.new > 0 ? .changed : .unchanged
            }
        } catch {
            await explain(error, in: &result)
        }
        await finish(stream, result: result, startedAt: startedAt, duration: time.monotonic - start)
        return result
    }

    // MARK: - Fetching

    func fetch(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) {
        var dialect = await gate.dialectToAsk
        var first: (HTTPResponse, Timestamp)?
        if dialect == nil {
            let probe = try await probe(stream, snapshot: snapshot)
            dialect = probe.dialect
            if probe.isAfresh {
                do { state = try await readState(stream) } catch { throw .store(error) }
            }
            // Only where the dialect's first request would have asked the same, about the same plans.
            if state.fetchCursor == nil, state.walk == nil,
                probe.chunk == identity.chunks(of: snapshot, dialect: probe.dialect).first
                    || poll.kind != .starredProjects
            {
                first = (probe.response, probe.askedAt)
            }
        }
        guard let dialect else { return }
        let isBootstrap = !state.bootstrapped && poll.options.bootstrap == .latest
        var cursor = state.fetchCursor
        var resume = isBootstrap ? nil : state.walk
        var room = state.room
        var isWalkStored = state.walk != nil
        let begun = time.monotonic
        while true {
            let chunks = poll.kind == .starredProjects ? identity.chunks(of: snapshot, dialect: dialect) : []
            var walk = PageWalk(
                dialect: dialect,
                mode: isBootstrap ? .bootstrap : .poll,
                cursor: cursor,
                resume: resume,
                chunks: max(chunks.count, 1),
                mustComplete: state.hasTombstones
            )
            let startedAt = clock.now
            // Offers are asked for without a limit.
            while let step = walk.next(limit: isBootstrap || chunks.isEmpty ? nil : max(room, 1)) {
                let response: HTTPResponse
                let askedAt: Timestamp
                if let answer = first {
                    (response, askedAt) = answer
                    first = nil
                } else {
                    let chunk = chunks.isEmpty ? nil : chunks[step.chunk]
                    (response, askedAt) = try await request(
                        step.query,
                        chunk: chunk,
                        account: stream.account,
                        dialect: dialect
                    )
                }
                // A plan starred since may have changed before what this answer shows: the cursor would pass it over.
                guard try await interests(are: snapshot) else { throw .interestsChanged }
                let page = try await decode(response, dialect: dialect, askedAt: askedAt)
                result.fetched += page.fetched
                let plan: PageWalk.Plan
                let isLate = time.monotonic - begun >= shared.longestCycle
                let madeAt = Self.earliestMaking(of: response, askedAt: askedAt)
                do { plan = try walk.receive(page, askedAt: madeAt, isLast: isLate) } catch { throw .page(error) }
                let counts = try await commit(
                    page,
                    plan: plan,
                    stream: stream,
                    state: state,
                    interests: snapshot.interests,
                    walk: &walk,
                    startedAt: startedAt,
                    isBootstrap: isBootstrap,
                    isWalkStored: isWalkStored,
                    room: room
                )
                guard let counts else { continue }
                result.isOutOfRoom = result.isOutOfRoom || counts.outOfRoom
                if !isBootstrap { isWalkStored = plan.walk != nil }
                // What bootstrapping stores is not news.
                result.new += isBootstrap ? 0 : counts.inserted + counts.reopened
                result.refetched += counts.refetched
                room -= counts.inserted + counts.refetched
                if let moved = counts.fetchCursor, moved != cursor {
                    cursor = moved
                    result.cursorMoved = true
                }
            }
            if isBootstrap && walk.isComplete {
                let isCurrent: Bool
                do throws(StoreError) {
                    isCurrent = try await store.finishBootstrap(
                        stream,
                        generation: state.generation,
                        interests: snapshot.interests,
                        top: walk.settled,
                        now: clock.now
                    )
                } catch { throw .store(error) }
                guard isCurrent else { throw .staleIdentity }
            }
            if walk.isComplete {
                do { try await gate.confirmDialect(now: clock.now) } catch { throw .store(error) }
            }
            // What was interrupted is finished; what is newer than it comes in the same cycle.
            guard walk.isComplete, walk.wasResumed else { return }
            resume = nil
        }
    }

    func request(
        _ query: PageQuery,
        chunk: PlanChunk?,
        account: DID,
        dialect: Dialect,
        startCursor: String? = nil
    ) async throws(Stop) -> (HTTPResponse, Timestamp) {
        let start = startCursor ?? dialect.startCursor
        var call = EndorserAPI.Call(
            endpoint: poll.kind.endpoint,
            method: chunk == nil ? .get : .post,
            account: account,
            purpose: .poll,
            runID: runID,
            poll: poll.name
        )
        if let chunk {
            call.body = query.body(for: chunk, startCursor: start)
            call.idempotencyKey = RandomID.uuid()
        } else {
            call.query = query.items(recipient: poll.kind == .offersToMe ? account : nil, startCursor: start)
        }
        switch await api.send(call, dialect: dialect) {
        case .answer(let response, let askedAt): return (response, askedAt)
        case .unstored(let error): throw .store(error)
        case let outcome: throw .request(outcome)
        }
    }

    // MARK: - Committing

    /// Stores a page; `nil` when there is nothing to store.
    ///
    /// - Parameter isWalkStored: Whether an interrupted walk is stored, of an earlier cycle or a page before.
    private func commit(
        _ page: Page,
        plan: PageWalk.Plan,
        stream: StreamKey,
        state: PollState,
        interests: Interests?,
        walk: inout PageWalk,
        startedAt: Timestamp,
        isBootstrap: Bool,
        isWalkStored: Bool,
        room: Int
    ) async throws(Stop) -> PageCommitCounts? {
        metrics.polls.pages[poll.label].increment()
        // An unchanged poll writes nothing: every row is known, there is no walk to end, and the cursor stays.
        if page.rejected == 0, plan.walk == nil, !isWalkStored, state.knows(page.changes, upTo: plan.cursor) {
            return nil
        }
        var commit = PageCommit(
            stream: stream,
            expectedGeneration: state.generation,
            runID: runID,
            changes: plan.changes,
            room: room,
            now: clock.now
        )
        commit.expectedInterests = interests
        commit.rejectedCount = page.rejected
        commit.details = page.details
        commit.priority = poll.options.priority
        commit.cursor = isBootstrap ? .unchanged : plan.cursor
        commit.walk = isBootstrap ? .keep : plan.walk.map { .save($0) } ?? .clear
        commit.interrupted = plan.interrupted
        commit.disposition = isBootstrap ? .bootstrap : .announce
        // A walk that was taken up again has not seen its first pages since, so it does not say what is gone of them.
        if walk.isComplete, !walk.wasResumed, !isBootstrap, let top = walk.top {
            commit.completed = .init(after: walk.lowerEnd, through: top, startedAt: startedAt)
        }
        if isBootstrap, let top = walk.settled {
            let floor = walk.dialect.bootstrapFloor(below: top)
            commit.seenOnly = commit.changes.filter { $0.id.precedes(floor) == true }
            commit.changes.removeAll { $0.id.precedes(floor) == true }
        }
        let counts: PageCommitCounts
        do {
            switch try await store(commit) {
            case .committed(let result): counts = result
            case .stale: throw Stop.staleIdentity
            }
        } catch let error as StoreError {
            throw .store(error)
        } catch {
            throw .staleIdentity
        }
        if counts.inserted > 0, !isBootstrap {
            metrics.polls.changesFound[poll.label].increment(by: UInt64(counts.inserted))
        }
        if counts.outOfRoom {
            walk.stop()
            note(.pollOutOfRoom, [.changeCount: .number(counts.inserted)])
        }
        return counts
    }

    // MARK: - Ending

    private func explain(_ stop: Stop, in result: inout Result) async {
        result.outcome = .failed
        switch stop {
        case .request(.deferred(let until, _)):
            result.outcome = .deferred
            result.resumeAt = until
            result.reason = "The server, or our rate limit, asks to wait."
        case .request(.failed(let failure)):
            result.failure = failure.failureClass
            result.reason = failure.reason
            if failure.result == .malformed { metrics.polls.violations[poll.label, .schema].increment() }
            if failure.failureClass == .unauthenticated {
                await api.followClock()
                await gate.hold(until: time.now + RetryDecision.waitAfterRefusedToken, now: time.now)
            }
            // A cursor of another dialect is no cursor to the server.
            if failure.result == .badRequest, failure.status == 400 { await gate.doubtDialect(now: time.now) }
        case .request(.noToken(let error)):
            result.failure = .unauthenticated
            result.reason = (error as? TokenError)?.description
        case .request(.answer), .request(.unstored): result.reason = nil
        case .page(let rejection):
            metrics.polls.violations[poll.label, rejection.violation].increment()
            result.failure = .malformed
            result.reason =
                "The server's answer broke its contract (\(rejection.violation.rawValue))."
            for issue in rejection.issues.prefix(10) {
                note(
                    .pollContractViolation,
                    [
                        .kind: "\(rejection.violation.rawValue)", .path: "\(issue.path)",
                        .problem: "\(issue.problem.rawValue)",
                    ]
                )
            }
        case .staleIdentity, .interestsChanged:
            identity.invalidate()
            result.failure = .cancelled
            result.reason = "Identity, stars, preferences or dialect changed during the cycle; nothing was stored."
        case .store(let error):
            result.isStoreFailure = true
            result.reason = error.description
        }
    }

    private func finish(_ stream: StreamKey, result: Result, startedAt: Timestamp, duration: Duration) async {
        let now = clock.now
        let outcome = result.outcome ?? .failed
        let hasSucceeded = outcome == .changed || outcome == .unchanged || outcome == .bootstrapped
        let exemplar = Exemplar(runID: runID, atMilliseconds: now.milliseconds)
        metrics.polls.outcomes[poll.label, outcome].increment()
        metrics.polls.duration[poll.label].observe(duration, exemplar: exemplar)
        if hasSucceeded {
            metrics.polls.successes[poll.label].increment()
            metrics.polls.lastSuccess[poll.label].set(clock.local(now).seconds)
        } else if outcome == .failed {
            metrics.polls.failures[poll.label].increment(exemplar: exemplar)
        }
        await api.followClock()
        // A failure of ours says nothing of the server.
        let failure = result.failure ?? (result.isStoreFailure ? .cancelled : .refused)
        await gate.end(hasSucceeded ? nil : failure, now: time.now)
        var record = CycleRecord(
            stream: stream,
            runID: runID,
            startedAt: startedAt,
            finishedAt: now,
            outcome: outcome
        )
        record.successAt = hasSucceeded ? now : nil
        record.nextRun = nextRun
        record.newRows = result.new
        record.reason = hasSucceeded ? nil : result.failure?.rawValue ?? outcome.rawValue
        if outcome == .unchanged {
            store.recordUnchanged(record)
        } else {
            do {
                try await store.finishCycle(record)
            } catch {
                note(.pollStoreFailed, [.error: "\(error.description)"])
            }
        }
        log(result, outcome: outcome, duration: duration)
    }
}

import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

extension CycleRun {
    /// Ends the walk with a failure: counts and logs what broke the contract, and waits or doubts what is known where the
    /// failure asks for it.
    mutating func stop(_ stop: PollCycle.Stop) async {
        circuitFailure = stop.circuitFailure
        if cycle.missesEndpoint(stop, at: source.lastEndpoint) { return miss() }
        result.describe(stop)
        switch stop {
        case .request(.failed(let failure)):
            if failure.result == .malformed {
                cycle.metrics.polls.violations[cycle.poll.label, .schema].increment()
                for issue in failure.issues { log(.pollContractViolation, ContractViolation.schema.fields(of: issue)) }
            }
            if failure.failureClass == .unauthenticated {
                await cycle.api.followClock()
                await cycle.gate.hold(until: cycle.time.now + RetryDecision.waitAfterRefusedToken, now: cycle.time.now)
            }
            // The server rejects a cursor of another dialect.
            if failure.result == .badRequest, failure.status == 400 {
                cycle.gate.known.doubtDialect(now: cycle.time.now)
            }
        case .page(let rejection):
            cycle.metrics.polls.violations[cycle.poll.label, rejection.violation].increment()
            for issue in rejection.issues.prefix(10) {
                log(.pollContractViolation, rejection.violation.fields(of: issue))
            }
        case .staleIdentity, .interestsChanged: cycle.identity.invalidate()
        case .request, .store: break
        }
    }

    /// Lets the poll rest, because the server lacks an endpoint. That is said once, and is no failure.
    private mutating func miss() {
        result.skip = .endpointMissing
        let endpoint = source.lastEndpoint ?? cycle.poll.kind.endpoint
        guard cycle.gate.known.miss(endpoint, now: cycle.time.now) else { return }
        log(.pollEndpointMissing, [.endpoint: "\(endpoint.rawValue)"])
    }

    /// Ends the cycle at the gate and in the store, and counts and logs its result.
    ///
    /// - Parameters:
    ///   - startedAt: The start of the cycle by the local clock, because ages are made of it.
    ///   - begun: The same by the monotonic clock.
    consuming func finish(startedAt: Timestamp, begun: Duration) async -> PollCycle.Result {
        await cycle.api.followClock()
        // The request of a shared answer has reported itself.
        let isUnasked = source.count == 0 && (hasSharedFailure || parts != nil && circuitFailure == nil)
        await cycle.gate.end(isUnasked ? .cancelled : circuitFailure, now: cycle.time.now)
        guard result.skip == nil else { return result }
        let end = CycleEnd(run: self, startedAt: startedAt, begun: begun)
        await end.report()
        return end.result
    }

    /// Logs an event of this cycle, with its last request where the event is about one.
    func log(_ event: AgentEvent, _ fields: @autoclosure () -> AgentEvent.Fields = [:]) {
        cycle.log(event, fields(), of: source.lastRequest)
    }
}

extension ContractViolation {
    /// The fields of its event.
    fileprivate func fields(of issue: ValidationIssue) -> AgentEvent.Fields {
        [.kind: "\(rawValue)", .path: "\(issue.path)", .problem: "\(issue.problem.rawValue)"]
    }
}

/// The end of a cycle, with its times by the local clock.
private struct CycleEnd: ~Copyable {
    private let run: CycleRun
    private let cycle: PollCycle
    let result: PollCycle.Result
    private let outcome: PollOutcome
    private let startedAt: Timestamp
    private let finishedAt: Timestamp
    private let duration: Duration

    init(run: consuming CycleRun, startedAt: Timestamp, begun: Duration) {
        (cycle, result) = (run.cycle, run.result)
        self.run = run
        outcome = result.outcome ?? .failed
        (self.startedAt, finishedAt) = (startedAt, cycle.time.now)
        duration = cycle.time.monotonic - begun
    }

    /// Counts, remembers, stores and logs the result.
    func report() async {
        count()
        cycle.memory.runs.add(recentRun)
        await store()
        log()
    }

    private func count() {
        // A copy of all metrics of polls would be 44 references.
        let (metrics, poll) = (cycle.metrics, cycle.poll.label)
        let exemplar = Exemplar(runID: cycle.runID, atMilliseconds: finishedAt.milliseconds)
        metrics.polls.outcomes[poll, outcome].increment()
        metrics.polls.duration[poll].observe(duration, exemplar: exemplar)
        if result.hasSucceeded {
            metrics.polls.successes[poll].increment()
            cycle.service.lastCycles.noteSuccess(of: cycle.poll.name, at: finishedAt)
        } else if outcome == .failed {
            metrics.polls.failures[poll].increment(exemplar: exemplar)
            metrics.polls.failureReasons[poll, result.cause?.label ?? .other].increment()
        }
    }

    private var recentRun: RecentRun {
        var run = RecentRun(
            runID: cycle.runID,
            poll: cycle.poll.name,
            startedAt: startedAt,
            finishedAt: finishedAt,
            outcome: outcome.rawValue
        )
        if !result.hasSucceeded { run.reason = result.cause?.description }
        (run.requests, run.new) = (self.run.source.count, result.new)
        if let request = self.run.source.lastRequest {
            run.answer = RecentRun.Answer(
                status: self.run.source.lastStatus,
                tookMilliseconds: self.run.source.lastDuration.wholeMilliseconds,
                requestID: request.id,
                serverRequestID: request.serverID
            )
        }
        return run
    }

    private func store() async {
        var record = CycleRecord(
            stream: run.stream,
            runID: cycle.runID,
            startedAt: startedAt,
            finishedAt: finishedAt,
            outcome: outcome
        )
        record.successAt = result.hasSucceeded ? finishedAt - answerAge : nil
        record.nextRun = cycle.nextRun
        record.seenUntil = cycle.memory.seenUntil(of: run.stream)
        record.newRows = result.new
        record.reason = result.hasSucceeded ? nil : result.cause
        if result.isPageRefused {
            record.refusedPages = run.state.refusedPages + 1
        } else if result.hasSucceeded, run.state.refusedPages > 0, result.rejected == 0 {
            record.refusedPages = 0
        }
        if outcome == .unchanged, record.refusedPages == nil {
            cycle.store.polls.recordUnchanged(record)
        } else {
            do throws(StoreError) { try await cycle.store.polls.finishCycle(record) } catch {
                run.log(.pollStoreFailed, [.error: "\(error.description)"])
            }
        }
    }

    /// The age of the oldest answer that the account shared: what a server's clock has passed since is counted from there.
    private var answerAge: Duration {
        let asked = run.parts?.map(\.answer.first.page.askedBoottime).min()
        return asked.map { max(.zero, cycle.time.boottime - $0) } ?? .zero
    }

    private func log() {
        let event: AgentEvent =
            switch outcome {
            case .failed: .pollFailed
            case .cancelled: .pollCancelled
            case .deferred: .pollDeferred
            case .changed: .pollChanged
            case .bootstrapped: .pollBootstrapped
            case .unchanged: .pollUnchanged
            }
        run.log(
            event,
            [
                .outcome: "\(outcome.rawValue)", .changeCount: .number(result.new),
                .durationMilliseconds: .number(duration.wholeMilliseconds),
                .identity: "\(run.stream.account.rawValue)",
                .projectCount: .number(cycle.poll.kind.needsStars ? run.snapshot.stars.count : 0),
            ]
            .merging(result.reason.map { [.error: "\($0)"] } ?? [:]) { $1 }
            .merging(result.cause?.fields ?? [:]) { $1 }
        )
    }
}

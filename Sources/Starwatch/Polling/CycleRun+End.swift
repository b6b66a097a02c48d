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
                await cycle.gate.hold(until: time.now + RetryDecision.waitAfterRefusedToken, now: time.now)
            }
            // The server rejects a cursor of another dialect.
            if failure.result == .badRequest, failure.status == 400 {
                cycle.gate.known.doubtDialect(now: time.now)
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
        guard cycle.gate.known.miss(endpoint, now: time.now) else { return }
        log(.pollEndpointMissing, [.endpoint: "\(endpoint.rawValue)"])
    }

    /// Ends the cycle at the gate and in the store, and counts and logs its result.
    ///
    /// - Parameters:
    ///   - startedAt: The start of the cycle by the local clock, because ages are made of it.
    ///   - begun: The same by the monotonic clock.
    func finish(startedAt: Timestamp, begun: Duration) async -> PollCycle.Result {
        await cycle.api.followClock()
        // The request of a shared answer has reported itself.
        let isUnasked = source.count == 0 && (hasSharedFailure || parts != nil && circuitFailure == nil)
        await cycle.gate.end(isUnasked ? .cancelled : circuitFailure, now: time.now)
        guard result.skip == nil else { return result }
        let end = End(startedAt: startedAt, finishedAt: time.now, duration: time.monotonic - begun)
        count(end)
        cycle.memory.runs.add(recentRun(end))
        await store(end)
        log(end)
        return result
    }

    private var outcome: PollOutcome { result.outcome ?? .failed }

    private func count(_ end: End) {
        // A copy of all metrics of polls would be 44 references.
        let (metrics, poll) = (cycle.metrics, cycle.poll.label)
        let exemplar = Exemplar(runID: cycle.runID, atMilliseconds: end.finishedAt.milliseconds)
        metrics.polls.outcomes[poll, outcome].increment()
        metrics.polls.duration[poll].observe(end.duration, exemplar: exemplar)
        if result.hasSucceeded {
            metrics.polls.successes[poll].increment()
            cycle.service.lastCycles.noteSuccess(of: cycle.poll, at: end.finishedAt)
        } else if outcome == .failed {
            metrics.polls.failures[poll].increment(exemplar: exemplar)
            metrics.polls.failureReasons[poll, result.cause?.label ?? .other].increment()
        }
    }

    private func recentRun(_ end: End) -> RecentRun {
        var run = RecentRun(
            runID: cycle.runID,
            poll: cycle.poll.name,
            startedAt: end.startedAt,
            finishedAt: end.finishedAt,
            outcome: outcome.rawValue
        )
        if !result.hasSucceeded { run.reason = result.cause?.description }
        (run.requests, run.new) = (source.count, result.new)
        if let request = source.lastRequest {
            run.answer = RecentRun.Answer(
                status: source.lastStatus,
                tookMilliseconds: source.lastDuration.wholeMilliseconds,
                requestID: request.id,
                serverRequestID: request.serverID
            )
        }
        return run
    }

    private func store(_ end: End) async {
        var record = CycleRecord(
            stream: stream,
            runID: cycle.runID,
            startedAt: end.startedAt,
            finishedAt: end.finishedAt,
            outcome: outcome
        )
        record.successAt = result.hasSucceeded ? end.finishedAt - answerAge : nil
        record.nextRun = cycle.nextRun
        record.seenUntil = cycle.memory.seenUntil(of: stream)
        record.newRows = result.new
        record.reason = result.hasSucceeded ? nil : result.cause
        if result.isPageRefused {
            record.refusedPages = state.refusedPages + 1
        } else if result.hasSucceeded, state.refusedPages > 0, result.rejected == 0 {
            record.refusedPages = 0
        }
        if outcome == .unchanged, record.refusedPages == nil {
            cycle.store.polls.recordUnchanged(record)
        } else {
            do throws(StoreError) { try await cycle.store.polls.finishCycle(record) } catch {
                log(.pollStoreFailed, [.error: "\(error.description)"])
            }
        }
    }

    /// The age of the oldest answer that the account shared: what a server's clock has passed since is counted from there.
    private var answerAge: Duration {
        let asked = parts?.map(\.answer.first.page.askedBoottime).min()
        return asked.map { max(.zero, time.boottime - $0) } ?? .zero
    }

    private func log(_ end: End) {
        let event: AgentEvent =
            switch outcome {
            case .failed: .pollFailed
            case .cancelled: .pollCancelled
            case .deferred: .pollDeferred
            case .changed: .pollChanged
            case .bootstrapped: .pollBootstrapped
            case .unchanged: .pollUnchanged
            }
        log(
            event,
            [
                .outcome: "\(outcome.rawValue)", .changeCount: .number(result.new),
                .durationMilliseconds: .number(end.duration.wholeMilliseconds),
                .identity: "\(stream.account.rawValue)",
                .projectCount: .number(cycle.poll.kind.needsStars ? snapshot.stars.count : 0),
            ]
            .merging(result.reason.map { [.error: "\($0)"] } ?? [:]) { $1 }
            .merging(result.cause?.fields ?? [:]) { $1 }
        )
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

/// The times of a run that has ended, by the local clock, and its duration by the monotonic one.
private struct End {
    let startedAt: Timestamp
    let finishedAt: Timestamp
    let duration: Duration
}

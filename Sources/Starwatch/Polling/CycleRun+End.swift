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
        if cycle.missesEndpoint(stop, at: source.lastEndpoint) {
            // It lets the poll rest. That is said once, and is no failure.
            result.skip = .endpointMissing
            let endpoint = source.lastEndpoint ?? cycle.poll.kind.endpoint
            guard cycle.gate.known.miss(endpoint, now: time.now) else { return }
            return log(.pollEndpointMissing, [.endpoint: "\(endpoint.rawValue)"])
        }
        result.describe(stop)
        switch stop {
        case .request(.failed(let failure)):
            if failure.result == .malformed {
                cycle.metrics.polls.violations[cycle.poll.label, .schema].increment()
                for issue in failure.issues { log(.pollContractViolation, ContractViolation.schema.fields(of: issue)) }
            }
            if failure.failureClass == .unauthenticated {
                let now = await cycle.api.followClock()
                await cycle.gate.hold(until: now + RetryDecision.waitAfterRefusedToken, now: now)
            }
            // The server rejects a cursor of another dialect.
            if failure.result == .badRequest, failure.status == 400, !cycle.poll.kind.isList {
                cycle.gate.known.doubtDialect(now: time.now)
            }
        case .page(let rejection):
            cycle.metrics.polls.violations[cycle.poll.label, rejection.violation].increment()
            for issue in rejection.issues.prefix(10) {
                log(.pollContractViolation, rejection.violation.fields(of: issue))
            }
        case .staleIdentity, .interestsChanged: cycle.identity.invalidate()
        case .request: break
        }
    }

    /// Ends the cycle at the gate and in the store, and counts and logs its result.
    ///
    /// - Parameters:
    ///   - startedAt: The start of the cycle by the local clock, because ages are made of it.
    ///   - begun: The same by the monotonic clock.
    func finish(startedAt: Timestamp, begun: Duration) async -> PollCycle.Result {
        let now = await cycle.api.followClock()
        // The request of a shared answer has reported itself.
        let isUnasked = source.count == 0 && (hasSharedFailure || parts != nil && circuitFailure == nil)
        await cycle.gate.end(isUnasked ? .cancelled : circuitFailure, now: now)
        guard result.skip == nil else { return result }
        let end = CycleEnd(
            outcome: result.outcome ?? .failed,
            startedAt: startedAt,
            finishedAt: time.now,
            duration: time.monotonic - begun
        )
        end.count(self)
        cycle.memory.runs.add(end.recentRun(self))
        await end.store(self)
        end.log(self)
        return result
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

/// The end of a run, with its times by the local clock, and its duration by the monotonic one.
private struct CycleEnd {
    let outcome: PollOutcome
    let startedAt: Timestamp
    let finishedAt: Timestamp
    let duration: Duration

    func count(_ run: borrowing CycleRun) {
        // A copy of all metrics of polls would be 44 references.
        let cycle = run.cycle
        let (metrics, poll) = (cycle.metrics, cycle.poll.label)
        let exemplar = Exemplar(runID: cycle.runID, atMilliseconds: finishedAt.milliseconds)
        metrics.polls.outcomes[poll, outcome].increment()
        metrics.polls.duration[poll].observe(duration, exemplar: exemplar)
        if run.result.hasSucceeded {
            metrics.polls.successes[poll].increment()
            cycle.service.lastCycles.noteSuccess(of: cycle.poll, at: finishedAt)
        } else if outcome == .failed {
            metrics.polls.failures[poll].increment(exemplar: exemplar)
            metrics.polls.failureReasons[poll, run.result.failure?.cause.label ?? .other].increment()
        }
    }

    func recentRun(_ ended: borrowing CycleRun) -> RecentRun {
        let cycle = ended.cycle
        var run = RecentRun(
            runID: cycle.runID,
            poll: cycle.poll.name,
            startedAt: startedAt,
            finishedAt: finishedAt,
            outcome: outcome.rawValue
        )
        if !ended.result.hasSucceeded { run.reason = ended.result.failure?.cause.description }
        (run.requests, run.new) = (ended.source.count, ended.result.new)
        if let request = ended.source.lastRequest {
            run.answer = RecentRun.Answer(
                status: ended.source.lastStatus,
                tookMilliseconds: ended.source.lastDuration.wholeMilliseconds,
                requestID: request.id,
                serverRequestID: request.serverID
            )
        }
        return run
    }

    func store(_ run: borrowing CycleRun) async {
        let cycle = run.cycle
        var record = CycleRecord(
            stream: run.stream,
            runID: cycle.runID,
            startedAt: startedAt,
            finishedAt: finishedAt,
            outcome: outcome
        )
        record.successAt = run.result.hasSucceeded ? finishedAt - answerAge(of: run) : nil
        record.nextRun = cycle.nextRun
        record.seenUntil = cycle.memory.seenUntil(of: run.stream)
        record.newRows = run.result.new
        record.reason = run.result.hasSucceeded ? nil : run.result.failure?.cause
        if run.result.isPageRefused {
            record.refusedPages = run.state.refusedPages + 1
        } else if run.result.hasSucceeded, run.state.refusedPages > 0, run.result.rejected == 0 {
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
    private func answerAge(of run: borrowing CycleRun) -> Duration {
        guard let asked = run.parts?.map(\.answer.first.page.sending.askedBoottime).min() else { return .zero }
        return max(.zero, run.time.boottime - asked)
    }

    func log(_ run: borrowing CycleRun) {
        let cycle = run.cycle
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
                .outcome: "\(outcome.rawValue)", .changeCount: .number(run.result.new),
                .durationMilliseconds: .number(duration.wholeMilliseconds),
                .identity: "\(run.stream.account.rawValue)",
                .projectCount: .number(cycle.poll.kind.needsStars ? run.snapshot.stars.count : 0),
            ]
            .merging(run.result.failure.map { [.error: "\($0.reason)"] } ?? [:]) { $1 }
            .merging(run.result.failure?.cause.fields ?? [:]) { $1 }
        )
    }
}

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
        result.describe(stop)
        switch stop {
        case .request(.failed(let failure)):
            if failure.result == .malformed {
                cycle.metrics.polls.violations[cycle.poll.label, .schema].increment()
                for issue in failure.issues { log(.schema, issue) }
            }
            if failure.failureClass == .unauthenticated {
                await cycle.api.followClock()
                await cycle.gate.hold(until: cycle.time.now + RetryDecision.waitAfterRefusedToken, now: cycle.time.now)
            }
            // The server rejects a cursor of another dialect.
            if failure.result == .badRequest, failure.status == 400 {
                await cycle.gate.doubtDialect(now: cycle.time.now)
            }
        case .page(let rejection):
            cycle.metrics.polls.violations[cycle.poll.label, rejection.violation].increment()
            for issue in rejection.issues.prefix(10) { log(rejection.violation, issue) }
        case .staleIdentity, .interestsChanged: cycle.identity.invalidate()
        case .request, .store: break
        }
    }

    /// Ends the cycle at the gate and in the store, and counts and logs its result.
    ///
    /// - Parameters:
    ///   - startedAt: The start of the cycle by the local clock, because ages are made of it.
    ///   - begun: The same by the monotonic clock.
    mutating func finish(startedAt: Timestamp, begun: Duration) async -> PollCycle.Result {
        await cycle.api.followClock()
        // The request of a shared answer has reported itself.
        let isUnasked = source.count == 0 && (hasSharedFailure || parts != nil && circuitFailure == nil)
        await cycle.gate.end(isUnasked ? .cancelled : circuitFailure, now: cycle.time.now)
        let duration = cycle.time.monotonic - begun
        let outcome = result.outcome ?? .failed
        let now = cycle.time.now
        let exemplar = Exemplar(runID: cycle.runID, atMilliseconds: now.milliseconds)
        cycle.metrics.polls.outcomes[cycle.poll.label, outcome].increment()
        cycle.metrics.polls.duration[cycle.poll.label].observe(duration, exemplar: exemplar)
        if result.hasSucceeded {
            cycle.metrics.polls.successes[cycle.poll.label].increment()
            cycle.metrics.polls.lastSuccess[cycle.poll.label].set(now.seconds)
        } else if outcome == .failed {
            cycle.metrics.polls.failures[cycle.poll.label].increment(exemplar: exemplar)
            cycle.metrics.polls.failureReasons[cycle.poll.label, result.cause?.label ?? .other].increment()
        }
        remember(outcome, startedAt: startedAt, finishedAt: now)
        await record(outcome, startedAt: startedAt, finishedAt: now)
        log(outcome, duration)
        return result
    }

    private func remember(_ outcome: PollOutcome, startedAt: Timestamp, finishedAt now: Timestamp) {
        var run = RecentRun(
            runID: cycle.runID,
            poll: cycle.poll.name,
            startedAt: startedAt,
            finishedAt: now,
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
        cycle.memory.runs.add(run)
    }

    private func record(_ outcome: PollOutcome, startedAt: Timestamp, finishedAt now: Timestamp) async {
        var record = CycleRecord(
            stream: stream,
            runID: cycle.runID,
            startedAt: startedAt,
            finishedAt: now,
            outcome: outcome
        )
        record.successAt = result.hasSucceeded ? now - answerAge : nil
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
        return asked.map { max(.zero, cycle.time.boottime - $0) } ?? .zero
    }

    // MARK: - Log

    /// Logs the result of the cycle.
    private func log(_ outcome: PollOutcome, _ duration: Duration) {
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
                .durationMilliseconds: .number(duration.wholeMilliseconds), .identity: "\(stream.account.rawValue)",
                .projectCount: .number(cycle.poll.kind == .starredProjects ? snapshot.stars.count : 0),
            ]
            .merging(result.reason.map { [.error: "\($0)"] } ?? [:]) { $1 }
            .merging(result.cause?.fields ?? [:]) { $1 }
        )
    }

    private func log(_ violation: ContractViolation, _ issue: ValidationIssue) {
        log(
            .pollContractViolation,
            [.kind: "\(violation.rawValue)", .path: "\(issue.path)", .problem: "\(issue.problem.rawValue)"]
        )
    }

    /// Logs an event of this cycle, with its last request where the event is about one.
    func log(_ event: AgentEvent, _ fields: @autoclosure () -> AgentEvent.Fields = [:]) {
        cycle.log(event, fields(), of: source.lastRequest)
    }
}

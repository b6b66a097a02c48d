import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

extension PollService {
    /// Counts the outcomes of runs, and logs those that nothing started.
    func count(_ outcomes: [ScheduleOutcome: Int], of poll: Poll) {
        for (outcome, count) in outcomes {
            environment.metrics.polls.scheduleRuns[poll.label, outcome].increment(by: UInt64(count))
        }
        guard let missed = outcomes[.missed], missed > 0 else { return }
        environment.logger.log(.pollRunsMissed, [.poll: "\(poll.name.rawValue)", .count: .number(missed)])
    }

    func storedState(of poll: Poll) async throws(StoreError) -> PollState? {
        guard let did = try await account.identity.current().identity.did else { return nil }
        let (stream, limit) = (account.stream(of: poll, for: did), options.outbox.maxUndelivered)
        if let state = environment.store.polls.claimedState(stream, maxUndelivered: limit) { return state }
        return try await environment.store.polls.state(stream, maxUndelivered: limit)
    }

    /// Returns whether the poll has to find its starting point, and can. Until then it would take every change for one that
    /// was there before, or announce none, so it does not wait for its schedule.
    func isNew(_ poll: Poll) async throws(StoreError) -> Bool {
        guard poll.options.bootstrap != .beginning else { return false }
        guard try await account.identity.current().expects(poll.options) else { return false }
        guard let state = try await storedState(of: poll) else { return false }
        return poll.options.bootstrap == .latest ? !state.bootstrapped : state.lastSuccess == nil && !state.bootstrapped
    }

    /// Returns the time of an extra run outside the schedule, after a cycle with `result`.
    func again(_ poll: Poll, after result: PollCycle.Result) async -> Timestamp? {
        let now = environment.time.now
        let gate = account.gate
        let (storeFailures, tokenFailures) = track(poll).state.withLock { $0.countFailures(after: result) }
        if let tokenFailures { return now + Backoff.token.delay(afterFailures: tokenFailures) }
        if let resumeAt = result.resumeAt { return resumeAt }
        if let storeFailures { return now + ExtraRun.afterStoreFailures(storeFailures) }
        if result.isOutOfRoom { return now + ExtraRun.whileOutOfRoom }
        switch (result.skip, result.failure?.failureClass) {
        // The wait can have ended meanwhile.
        case (.throttled, _): return await gate.hold(now: now)?.until ?? now
        // A cycle of another poll is trying the server. Its end is unknown.
        case (.circuitOpen, _): return await gate.circuit.nextTry ?? now + ExtraRun.afterAnothers
        case (.overlap, _), (_, .cancelled): return now + ExtraRun.afterAnothers
        case (.backpressure, _): return now + ExtraRun.whileOutOfRoom
        case (_, .network): return now + ExtraRun.afterNetworkFailure
        case (_, .timeout), (_, .serverError), (_, .unavailable): return now + ExtraRun.afterServerFailure
        default: return nil
        }
    }
}

extension PollService.Track.State {
    /// Counts the consecutive cycles that failed in the database, and those that got no token.
    ///
    /// - Returns: The counts with this cycle; `nil` if it did not fail in that way.
    fileprivate mutating func countFailures(after result: PollCycle.Result) -> (store: Int?, token: Int?) {
        if result.lacksToken {
            tokenFailures += 1
            return (nil, tokenFailures)
        }
        guard result.skip == nil else { return (nil, nil) }
        (tokenFailures, storeFailures) = (0, result.isStoreFailure ? storeFailures + 1 : 0)
        return (result.isStoreFailure ? storeFailures : nil, nil)
    }
}

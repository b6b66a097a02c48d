import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

extension DispatchService {
    /// Delivers to all sinks concurrently. Each sink gets its notifications one at a time.
    func deliver(_ open: [OpenNotification], _ pass: inout Pass) async {
        let results = await withTaskGroup(of: [DeliveryResult].self) { group in
            for slot in sinks {
                // Notifications that failed before come last, so that a probe does not meet the same poisoned one every
                // time.
                let work = open.compactMap { notification in
                    notification.tickets.first { $0.sink == slot.name }.map { (notification, $0) }
                }.enumerated().sorted { left, right in
                    (left.element.1.earlierAttempts, left.offset) < (right.element.1.earlierAttempts, right.offset)
                }.map(\.element)
                guard !work.isEmpty else { continue }
                group.addTask {
                    var results: [DeliveryResult] = []
                    for (notification, ticket) in work where !Task.isCancelled {
                        if let result = await self.attempt(notification, ticket, at: slot) { results.append(result) }
                    }
                    return results
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for result in results {
            switch result {
            case .delivered(let ids) where ids.isEmpty, .dead(let ids) where ids.isEmpty: pass.settled += 1
            case .released(rows: 0): pass.settled += 1
            case .delivered(let ids): pass.delivered += ids.count
            case .dead(let ids): pass.dead += ids.count
            case .stale, .waiting, .released: break
            }
        }
    }

    private func attempt(
        _ notification: OpenNotification,
        _ ticket: DeliveryTicket,
        at slot: SinkSlot
    ) async -> DeliveryResult? {
        // The sink returned 410 Gone after this notification was created.
        if slot.isDisabled { return await record(ticket, .gone, notification, reason: slot.lastReason) }
        let admission = slot.admit(at: clock.now)
        if let changed = admission.changed { note(changed, of: slot, runID: notification.runID) }
        if let until = admission.waitUntil {
            guard let next = slot.policy.nextAttempt(until, dueSince: ticket.dueSince, now: clock.now) else {
                return await giveUp(ticket, notification, at: slot, after: nil)
            }
            return await record(ticket, .postponed(until: next), notification)
        }
        guard let outgoing = await current(notification) else {
            if let changed = slot.abandon(at: clock.now) { note(changed, of: slot, runID: notification.runID) }
            return nil
        }
        let (start, startedAt) = (environment.time.monotonic, clock.now)
        let result = await deliver(outgoing, to: slot)
        // The attempt was cancelled. It does not count against the sink, and the claim ends with its lease at the
        // latest.
        if Task.isCancelled, result.isNoAnswer {
            if let changed = slot.abandon(at: clock.now) { note(changed, of: slot, runID: notification.runID) }
            return nil
        }
        metrics.outbox.deliveryDuration[slot.label].observe(environment.time.monotonic - start)
        let now = clock.now
        let (changed, nextTry) = slot.note(result, at: now)
        if let changed { note(changed, of: slot, runID: notification.runID) }
        let outcome: DeliveryOutcome
        let facts = DeliveryAttempt(result, startedAt: startedAt)
        if let label = result.failure?.reason.label { metrics.outbox.deliveryFailures[slot.label, label].increment() }
        switch result {
        case .ok:
            count(slot, .ok)
            outcome = .ok
        case .rejected:
            count(slot, .rejected)
            let delay = Backoff.rejectedDelivery.delay(
                afterFailures: ticket.rejections + 1,
                random: environment.random()
            )
            outcome = .rejected(nextAttemptAt: now + delay)
            log(.sinkRejected, notification, slot, result.failure)
        case .unavailable, .timeout:
            guard let next = slot.policy.nextAttempt(nextTry, dueSince: ticket.dueSince, now: now) else {
                return await giveUp(ticket, notification, at: slot, after: facts)
            }
            outcome = .unavailable(nextAttemptAt: next)
            count(slot, result == .timeout ? .timeout : .unavailable)
            log(.sinkUnavailable, notification, slot, result.failure)
        case .gone:
            count(slot, .rejected)
            outcome = .gone
            log(.sinkGone, notification, slot, result.failure)
        }
        return await record(ticket, outcome, notification, facts, reason: result.failure?.reason)
    }

    /// The notification to send now; `nil` if there is none, because an operator discarded its rows since the pass began.
    private func current(_ notification: OpenNotification) async -> OutgoingNotification? {
        guard store.isOutdated(notification) else { return notification.outgoing }
        do {
            return try await store.current(notification)
        } catch {
            logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
            return nil
        }
    }

    /// Ends the attempts of a notification at a sink that was down for too long.
    ///
    /// - Parameter attempt: The last attempt; `nil` if the sink was not tried now.
    private func giveUp(
        _ ticket: DeliveryTicket,
        _ notification: OpenNotification,
        at slot: SinkSlot,
        after attempt: DeliveryAttempt?
    ) async -> DeliveryResult? {
        count(slot, .givenUp)
        let reason = slot.lastReason ?? FailureReason(.timeout)
        log(.sinkGivenUp, notification, slot, SinkFailure("The sink was down for too long.", reason))
        return await record(ticket, .givenUp(isAttempt: attempt != nil), notification, attempt, reason: slot.lastReason)
    }

    func deliver(_ notification: OutgoingNotification, to slot: SinkSlot) async -> SinkResult {
        await Trace.span(.delivery) { span in
            let result = await slot.sink.deliver(notification)
            guard let span else { return result }
            span.set(.sink, sink: slot.name)
            span.set(.runID, run: notification.runID)
            span.set(.count, notification.count)
            switch result {
            case .ok: span.set(.outcome, SinkAttemptResult.ok)
            case .rejected, .gone: span.fail(SinkAttemptResult.rejected)
            case .unavailable: span.fail(SinkAttemptResult.unavailable)
            case .timeout: span.fail(SinkAttemptResult.timeout)
            }
            return result
        }
    }

    /// - Parameter runID: The run of the notification whose attempt changed the circuit.
    func note(_ state: CircuitState, of slot: SinkSlot, runID: String) {
        metrics.api.circuitTransitions[slot.target, state].increment()
        metrics.api.circuitState[slot.target].set(state.metricValue)
        logger.log(.sinkCircuit, [.runID: "\(runID)", .sink: "\(slot.name)", .state: "\(state.rawValue)"])
    }

    /// Stores the result of an attempt. If that fails, the lease expires and the sink gets the notification again under
    /// the same id.
    private func record(
        _ ticket: DeliveryTicket,
        _ outcome: DeliveryOutcome,
        _ notification: OpenNotification,
        _ attempt: DeliveryAttempt? = nil,
        reason: FailureReason? = nil
    ) async -> DeliveryResult? {
        do {
            let now = clock.now
            let result = try await store.recordDelivery(
                ticket,
                outcome,
                attempt: attempt,
                reason: reason,
                now: now,
                maxRetries: maxRetries
            )
            if case .delivered(let ids) = result, !ids.isEmpty { observeFreshness(ids, notification, now: now) }
            return result
        } catch {
            logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
            hasLostResult.store(true, ordering: .relaxed)
            return nil
        }
    }

    private func observeFreshness(_ ids: [JWTID], _ notification: OpenNotification, now: Timestamp) {
        guard let label = metrics.pollNames[notification.stream.poll.rawValue] else { return }
        let exemplar = Exemplar(runID: notification.runID, atMilliseconds: now.milliseconds)
        for id in ids {
            metrics.outbox.freshness[label].observe(max(now - id.timestamp, .zero), exemplar: exemplar)
        }
        logger.log(
            .notificationDelivered,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)",
                .poll: "\(notification.stream.poll.rawValue)", .changeCount: .number(ids.count),
            ]
        )
    }

    func count(_ slot: SinkSlot, _ result: SinkAttemptResult) {
        metrics.outbox.deliveryAttempts[slot.label, result].increment()
    }

    private func log(
        _ event: AgentEvent,
        _ notification: OpenNotification,
        _ slot: SinkSlot,
        _ failure: SinkFailure?
    ) {
        guard let failure else { return }
        logger.log(
            event,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)", .sink: "\(slot.name)",
                .error: "\(failure.sentence)", .reason: "\(failure.reason.word)",
            ]
        )
    }
}

extension DeliveryAttempt {
    /// The facts of an attempt that ended with `result`.
    fileprivate init(_ result: SinkResult, startedAt: Timestamp) {
        let answer: Answer =
            switch result {
            case .ok: .ok
            case .rejected: .rejected
            case .unavailable: .unavailable
            case .timeout: .timeout
            case .gone: .gone
            }
        self.init(answer, reason: result.failure?.sentence, startedAt: startedAt)
    }
}

import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// One attempt to deliver one notification to one sink: ask the slot, send, learn from the answer, record it.
struct SinkAttempt {
    let notification: OpenNotification
    let ticket: DeliveryTicket
    let receiver: SinkReceiver
    let service: DispatchService

    private var slot: SinkSlot { receiver.slot }

    /// The moment until which the further attempts of a pass at a receiver wait, and whether there was no slot. Without
    /// that, only this receiver asked to wait.
    typealias Wait = (until: Timestamp, isForSlot: Bool)

    /// Makes the attempt, unless it must wait.
    ///
    /// - Parameter wait: The wait that an earlier attempt of the pass found; `nil` if none did.
    /// - Returns: The notification's new state; `nil` if the attempt was abandoned.
    /// - Throws: If the result cannot be stored. The lease then expires, and the sink gets the notification again under
    ///   the same id.
    func run(_ wait: inout Wait?) async throws(StoreError) -> DeliveryResult? {
        // The sink returned 410 Gone after this notification was created.
        if slot.isDisabled { return try await record(.gone, reason: slot.circuit.lastReason) }
        if let opening = slot.resumes(after: service.now), notification.outgoing.canBeHeld {
            return try await record(.held(until: opening))
        }
        if let wait, wait.until > service.now {
            return wait.isForSlot
                ? try await record(.postponed(until: wait.until)) : try await postpone(until: wait.until)
        }
        // A host that must wait needs no slot to be told so. A probe needs one.
        let mustWait = receiver.circuit.pause(at: service.now)?.until.map { $0 > service.now } ?? false
        guard let slots = slot.deliveries, !mustWait else { return try await make(&wait) }
        guard await slots.enter(receiver.host, receiver.circuit.standing, on: service.time) else {
            guard !Task.isCancelled else { return nil }
            // The sink is not to blame, so nothing is given up.
            let retry = service.now + DeliverySlots.retry
            wait = (until: retry, isForSlot: true)
            return try await record(.postponed(until: retry))
        }
        defer { slots.leave(receiver.host) }
        return try await make(&wait)
    }

    private func postpone(until: Timestamp) async throws(StoreError) -> DeliveryResult? {
        guard let next = slot.policy.nextAttempt(until, dueSince: ticket.dueSince, now: service.now) else {
            return try await giveUp(after: nil)
        }
        return try await record(.postponed(until: next))
    }

    private func make(_ wait: inout Wait?) async throws(StoreError) -> DeliveryResult? {
        let admission = slot.change(receiver.host) { $0.admit(at: service.now) }
        if let changed = admission.changed { log(changed) }
        if let until = admission.waitUntil { return try await postpone(until: until) }
        let account = ticket.stream.account
        guard var outgoing = await current() else { return abandon() }
        outgoing.dueSince = ticket.dueSince
        switch service.store.deliveries.beginAttempt(for: account, at: service.time.boottime) {
        case .given: break
        // Another process can own the account, so nothing is written. Its next claim frees the ticket.
        case .lost: return abandon()
        case .leaving:
            _ = abandon()
            return try await putOff()
        }
        defer { service.store.deliveries.endAttempt(for: account) }
        let (start, startedAt) = (service.time.monotonic, service.now)
        let result = await Trace.span(.delivery) { [outgoing] span in
            let result = await receiver.deliver(outgoing)
            if let span { fill(span, outgoing, result) }
            return result
        }
        // The attempt was cancelled, or another process owns the account. It does not count against the sink, and the claim
        // ends with its lease at the latest.
        if result.isNoAnswer, Task.isCancelled || result.failure == .abandoned { return abandon() }
        service.metrics.outbox.deliveryDuration[slot.label].observe(service.time.monotonic - start)
        let attempt = DeliveryAttempt(
            result.answer,
            reason: result.failure?.sentence,
            cause: result.failure?.reason,
            startedAt: startedAt
        )
        guard let outcome = learn(from: result, &wait) else { return try await giveUp(after: attempt) }
        if outcome == .gone, let address = receiver.address {
            try await service.store.accounts.noteGone(address, at: slot.name, of: account, now: service.now)
        }
        count(result.answer.label)
        if let event = result.answer.event { log(event, result.failure) }
        return try await record(outcome, attempt, reason: result.failure?.reason)
    }

    /// The notification to send now; `nil` if there is none, because an operator discarded its rows since the pass began.
    private func current() async -> OutgoingNotification? {
        guard service.store.deliveries.isOutdated(notification) else { return notification.outgoing }
        do {
            return try await service.store.deliveries.current(notification)
        } catch {
            service.logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
            return nil
        }
    }

    /// Ends the attempt without a result.
    private func abandon() -> DeliveryResult? {
        if let changed = slot.change(receiver.host, { $0.abandon(at: service.now) }) { log(changed) }
        return nil
    }

    /// Puts off the attempt for an account that leaves. One that stays after all would wait for the end of its lease otherwise.
    ///
    /// - Returns: `nil` if the account has left meanwhile, with the notification.
    private func putOff() async throws(StoreError) -> DeliveryResult? {
        do throws(StoreError) {
            return try await record(.postponed(until: service.now))
        } catch {
            guard error == .leaseLost else { throw error }
            return nil
        }
    }

    /// Updates the sink's circuit, and plans the next attempt.
    ///
    /// - Returns: `nil` if the sink was down for too long.
    private func learn(from result: SinkResult, _ wait: inout Wait?) -> DeliveryOutcome? {
        let now = service.now
        let (changed, nextTry) = slot.change(receiver.host) { $0.record(result, at: now) }
        if let changed { log(changed) }
        if let label = result.failure?.reason.label {
            service.metrics.outbox.deliveryFailures[slot.label, label].increment()
        }
        switch result.answer {
        case .ok: return .ok
        case .gone: return .gone
        case .rejected:
            let random = service.environment.random()
            let delay = Backoff.rejectedDelivery.delay(afterFailures: ticket.rejections + 1, random: random)
            return .rejected(nextAttemptAt: now + delay)
        case .unavailable, .timeout:
            if result.isOfReceiver || result.isOwnWait, slot.isOfAccounts {
                wait = (until: nextTry, isForSlot: false)
                receiver.keepWait(until: nextTry, now: now)
            }
            return slot.policy.nextAttempt(nextTry, dueSince: ticket.dueSince, now: now).map {
                .unavailable(nextAttemptAt: $0)
            }
        }
    }

    /// Ends the attempts at a sink that was down for too long.
    ///
    /// - Parameter attempt: The last attempt; `nil` if the sink was not tried now.
    private func giveUp(after attempt: DeliveryAttempt?) async throws(StoreError) -> DeliveryResult? {
        count(.givenUp)
        let lastReason = attempt?.cause ?? receiver.circuit.lastReason
        let reason = lastReason ?? FailureReason(.timeout)
        log(.sinkGivenUp, SinkFailure("The sink was down for too long.", reason))
        return try await record(.givenUp(isAttempt: attempt != nil), attempt, reason: lastReason)
    }

    /// Stores the result.
    private func record(
        _ outcome: DeliveryOutcome,
        _ attempt: DeliveryAttempt? = nil,
        reason: FailureReason? = nil
    ) async throws(StoreError) -> DeliveryResult {
        let now = service.now
        let result = try await service.store.deliveries.record(
            ticket,
            outcome,
            attempt: attempt,
            reason: reason,
            now: now,
            maxRetries: service.maxRetries
        )
        for (poll, ids) in deliveredByPoll(result) { observeFreshness(of: poll, ids, now: now) }
        return result
    }

    /// The delivered rows of each poll. Only a notification that brings others can be of several polls.
    private func deliveredByPoll(_ result: DeliveryResult) -> [(poll: String, ids: [JWTID])] {
        let ids = result.deliveredRows
        guard !ids.isEmpty else { return [] }
        if case .several = result, let message = NotificationMessage(json: notification.outgoing.payload) {
            return NotificationPolls(message).grouped(ids)
        }
        return [(poll: notification.stream.poll.rawValue, ids: ids)]
    }

    private func observeFreshness(of poll: String, _ ids: [JWTID], now: Timestamp) {
        guard let label = service.metrics.pollNames[poll] else { return }
        let exemplar = Exemplar(runID: notification.runID, atMilliseconds: now.milliseconds)
        for id in ids {
            service.metrics.outbox.freshness[label].observe(max(now - id.timestamp, .zero), exemplar: exemplar)
        }
        service.logger.log(
            .notificationDelivered,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)", .poll: "\(poll)",
                .changeCount: .number(ids.count),
            ]
        )
    }

    private func fill(_ span: TraceSpan, _ outgoing: OutgoingNotification, _ result: SinkResult) {
        span.set(.sink, sink: slot.name)
        span.set(.runID, run: outgoing.runID)
        span.set(.count, outgoing.count)
        if result.answer == .ok { span.set(.outcome, result.answer) } else { span.fail(result.answer.label) }
    }

    private func count(_ label: SinkAttemptResult) {
        service.metrics.outbox.deliveryAttempts[slot.label, label].increment()
    }

    /// Counts and logs the new state of the sink's circuit.
    private func log(_ state: CircuitState) {
        service.metrics.api.circuitTransitions[slot.target, state].increment()
        service.metrics.api.circuitState[slot.target].set(slot.circuit.state.metricValue)
        if slot.isDivided {
            service.metrics.fleet.unreachableHosts[slot.label].set(Double(slot.withHosts(\.down)))
        }
        service.logger.log(
            .sinkCircuit,
            [.runID: "\(notification.runID)", .sink: "\(slot.name)", .state: "\(state.rawValue)"]
        )
    }

    private func log(_ event: AgentEvent, _ failure: SinkFailure?) {
        guard let failure else { return }
        service.logger.log(
            event,
            [
                .runID: "\(notification.runID)", .notificationID: "\(notification.id)", .sink: "\(slot.name)",
                .error: "\(failure.sentence)", .reason: "\(failure.reason.word)",
                .identity: "\(ticket.stream.account.rawValue)",
            ]
        )
    }
}

extension SinkAnswer {
    /// The answer as a label value. A sink that is gone has rejected the notification.
    fileprivate var label: SinkAttemptResult {
        switch self {
        case .ok: .ok
        case .rejected, .gone: .rejected
        case .unavailable: .unavailable
        case .timeout: .timeout
        }
    }

    /// The event of a failed attempt.
    fileprivate var event: AgentEvent? {
        switch self {
        case .ok: nil
        case .rejected: .sinkRejected
        case .unavailable, .timeout: .sinkUnavailable
        case .gone: .sinkGone
        }
    }
}

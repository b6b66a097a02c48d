import Logging
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry

/// Sends the queued events to callbacks: at start, after cycles, and regularly. No other work waits for it.
package final class CallbackService: Worker {
    /// The results of one pass.
    package struct Pass: WorkerPass, Hashable {
        package var sent = 0
        package var next: Timestamp?

        package init() {}
    }

    package static let storeUser = StoreUser.callbacks
    package static let storeFailed = AgentEvent.callbackStoreFailed
    /// Backoff after a rejected event: 1 min, doubling up to 1 h.
    static let refused = Backoff(base: .seconds(60), cap: .seconds(3600))

    private let receivers: [CallbackReceiver]
    private let writer: CallbackWriter
    package let account: Account
    package let passes = PassRunner()

    package init(receivers: [CallbackReceiver], writer: CallbackWriter, account: Account) {
        (self.receivers, self.writer, self.account) = (receivers, writer, account)
    }

    package var now: Timestamp { time.now }

    /// Sends each due event once to each of its receivers.
    package func work(_ pass: inout Pass) async throws(StoreError) {
        metrics.callbacks.count([], dropped: try await store.events.dropOld(now: now), logger)
        try await enqueueHeartbeat()
        for receiver in receivers { try await drain(receiver, &pass) }
        let kinds = receivers.reduce(into: Set()) { $0.formUnion($1.kinds) }
        if let next = try await store.events.nextDue(kinds, now: now) { pass.tryAgain(at: next) }
        metrics.callbacks.waiting.set(Double(try await store.events.count()))
    }

    private func enqueueHeartbeat() async throws(StoreError) {
        let now = now
        let did = try await account.identity.current().identity.did
        guard let event = writer.draft(.heartbeat, account: did, now: now) else { return }
        let interval = writer.options.heartbeatInterval
        guard let dropped = try await store.events.enqueueHeartbeat(event, every: interval, now: now) else { return }
        metrics.callbacks.count([event], dropped: dropped, logger)
    }

    private func drain(_ receiver: CallbackReceiver, _ pass: inout Pass) async throws(StoreError) {
        for event in try await store.events.due(receiver.kinds, now: now) {
            guard !Task.isCancelled else { return }
            if let until = receiver.waitUntil(at: now) { return pass.tryAgain(at: until) }
            let result = await receiver.send(event, time: time)
            switch result.answer {
            case .ok:
                try await store.events.remove(event.id)
                metrics.callbacks.events[event.kind, .sent].increment()
                pass.sent += 1
            case .rejected, .gone:
                let wait = Self.refused.delay(afterFailures: event.attempts + 1)
                try await store.events.postpone(event.id, until: now + wait)
                metrics.callbacks.events[event.kind, .refused].increment()
                log(.callbackRefused, "The callback's receiver refused the event.", of: event, after: result)
            case .unavailable, .timeout:
                guard !Task.isCancelled else { return }
                // This event may be the cause of the failure, so the next pass sends the others first.
                try await store.events.postpone(event.id, until: now)
                metrics.callbacks.events[event.kind, .unavailable].increment()
                log(.callbackUnavailable, result.sentence, of: event, after: result)
                if let next = receiver.nextTry { pass.tryAgain(at: next) }
                return
            }
        }
    }

    private func log(_ outcome: AgentEvent, _ sentence: String, of event: QueuedEvent, after result: SinkResult) {
        logger.log(
            outcome,
            [.kind: "\(event.kind.rawValue)", .error: "\(sentence)", .reason: "\(result.failure?.reason.word ?? "")"]
        )
    }
}

extension SinkResult {
    fileprivate var sentence: String {
        if answer == .timeout { return "The callback's receiver did not answer in time." }
        if let failure, failure.reason.label == .noToken { return failure.sentence }
        return "The callback's receiver is not available."
    }
}

extension CallbackMetrics {
    /// Counts stored events, and the events dropped to make room.
    func count(_ events: [EventDraft], dropped: Int, _ logger: Logger) {
        for event in events { self.events[event.kind, .queued].increment() }
        guard dropped > 0 else { return }
        self.dropped.increment(by: UInt64(dropped))
        logger.log(.callbackDropped, [.count: .number(dropped)])
    }
}

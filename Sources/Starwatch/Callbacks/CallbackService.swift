import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry

/// Sends the queued events to callbacks: at start, after cycles, and on a timer. No other work waits for it.
package final class CallbackService: Service {
    /// The results of one pass.
    package struct Pass: Sendable, Hashable {
        package var sent = 0
        /// The latest time of the next pass.
        package var next: Timestamp
    }

    /// The interval between checks of the queue when nothing else wakes the service.
    static let interval = Duration.seconds(60)
    /// Backoff after a rejected event: 1 min, doubling up to 1 h.
    static let refused = Backoff(base: .seconds(60), cap: .seconds(3600))

    private let receivers: [CallbackReceiver]
    private let options: CallbackOptions
    private let writer: CallbackWriter
    private let store: Store
    private let identity: IdentityContext
    private let environment: Environment
    private let wakes: Wakes

    package init(
        receivers: [CallbackReceiver],
        options: CallbackOptions,
        writer: CallbackWriter,
        store: Store,
        identity: IdentityContext,
        environment: Environment,
        wakes: Wakes
    ) {
        self.receivers = receivers
        self.options = options
        self.writer = writer
        self.store = store
        self.identity = identity
        self.environment = environment
        self.wakes = wakes
    }

    private var time: any TimeSource { environment.time }
    private var metrics: AgentMetrics { environment.metrics }
    private var logger: Logger { environment.logger }

    package func run() async throws {
        await PassLoop(wake: wakes.callbacks, time: time, finishes: false).run {
            max(min(await self.pass().next - self.time.now, Self.interval), .seconds(1))
        }
    }

    /// Sends each due event once to each of its receivers.
    package func pass() async -> Pass {
        let now = time.now
        var pass = Pass(next: now + Self.interval)
        do throws(StoreError) {
            metrics.callbacks.noteQueued([], dropped: try await store.dropOldEvents(now: now), logger)
            try await beat(now)
            for receiver in receivers { try await drain(receiver, &pass) }
            metrics.callbacks.waiting.set(Double(try await store.eventCount()))
            store.health.ended(.callbacks, failed: false)
        } catch {
            logger.log(.callbackStoreFailed, [.error: "\(error.description)"])
            store.health.ended(.callbacks, failed: true)
        }
        return pass
    }

    private func beat(_ now: Timestamp) async throws(StoreError) {
        let account = try await identity.current().identity.did
        guard let event = writer.draft(.heartbeat, account: account, now: now) else { return }
        guard let dropped = try await store.enqueueHeartbeat(event, every: options.heartbeatInterval, now: now) else {
            return
        }
        metrics.callbacks.noteQueued([event], dropped: dropped, logger)
    }

    private func drain(_ receiver: CallbackReceiver, _ pass: inout Pass) async throws(StoreError) {
        for event in try await store.dueEvents(receiver.kinds, now: time.now) {
            guard !Task.isCancelled else { return }
            if let until = receiver.waitUntil(at: time.now) {
                pass.next = min(pass.next, until)
                return
            }
            let result = await receiver.tell(event, time: time)
            switch result {
            case .ok:
                try await store.removeEvent(event.id)
                metrics.callbacks.events[event.kind, .sent].increment()
                pass.sent += 1
            case .rejected, .gone:
                let wait = Self.refused.delay(afterFailures: event.attempts + 1)
                try await store.postponeEvent(event.id, until: time.now + wait)
                metrics.callbacks.events[event.kind, .refused].increment()
                logger.log(
                    .callbackRefused,
                    [
                        .kind: "\(event.kind.rawValue)", .error: "The callback's receiver refused the event.",
                        .reason: "\(result.reasonWord)",
                    ]
                )
            case .unavailable, .timeout:
                guard !Task.isCancelled else { return }
                // This event may be the cause of the failure, so the next pass sends the others first.
                try await store.postponeEvent(event.id, until: time.now)
                metrics.callbacks.events[event.kind, .unavailable].increment()
                logger.log(
                    .callbackUnavailable,
                    [
                        .kind: "\(event.kind.rawValue)", .error: "\(result.sentence)",
                        .reason: "\(result.reasonWord)",
                    ]
                )
                if let next = receiver.nextTry { pass.next = min(pass.next, next) }
                return
            }
        }
    }
}

extension SinkResult {
    fileprivate var reasonWord: String { failure?.reason.word ?? "" }

    fileprivate var sentence: String {
        switch self {
        case .unavailable(let failure, _) where failure.reason.label == .noToken: failure.sentence
        case .timeout: "The callback's receiver did not answer in time."
        default: "The callback's receiver is not available."
        }
    }
}

extension CallbackMetrics {
    /// Counts stored events, and the events dropped to make room.
    func noteQueued(_ events: [EventDraft], dropped: Int, _ logger: Logger) {
        for event in events { self.events[event.kind, .queued].increment() }
        guard dropped > 0 else { return }
        self.dropped.increment(by: UInt64(dropped))
        logger.log(.callbackDropped, [.count: .number(dropped)])
    }
}

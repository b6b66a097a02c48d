package import Logging
import ServiceLifecycle
package import StarwatchStore
package import StarwatchTelemetry

/// Deletes what is past its time, keeps the outbox within its bounds, and stores the recent log.
package final class HousekeepingService: Service {
    private let store: Store
    private let outbox: OutboxOptions
    private let clock: ServerClock
    private let time: any TimeSource
    private let pipeline: LogPipeline
    private let recorder: LogRecorder
    private let logger: Logger

    package init(
        store: Store,
        outbox: OutboxOptions,
        clock: ServerClock,
        time: any TimeSource,
        pipeline: LogPipeline,
        recorder: LogRecorder,
        logger: Logger
    ) {
        self.store = store
        self.outbox = outbox
        self.clock = clock
        self.time = time
        self.pipeline = pipeline
        self.recorder = recorder
        self.logger = logger
    }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var nextCleanup = self.time.monotonic + self.outbox.cleanupInterval
            while !Task.isCancelled {
                try await self.time.sleep(for: .seconds(10))
                self.pipeline.flushExpired()
                await self.recorder.flush(to: self.store)
                guard self.time.monotonic >= nextCleanup else { continue }
                await self.pass()
                nextCleanup = self.time.monotonic + self.outbox.cleanupInterval
            }
        }
        await recorder.flush(to: store)
    }

    /// Cleans up once.
    package func pass() async {
        var policy = RetentionPolicy()
        policy.delivered = outbox.keepDelivered
        do {
            // The earlier of the two clocks: a server whose clock runs ahead must not have dead letters deleted.
            let counts = try await store.retention(policy, now: min(clock.now, time.now))
            if counts.outbox > 0 { logger.log(.retentionCleaned, [.rowCount: .number(counts.outbox)]) }
        } catch {
            logger.log(.retentionStoreFailed, [.error: "\(error.description)"])
        }
    }
}

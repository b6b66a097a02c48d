import Logging
import ServiceLifecycle
package import StarwatchStore
package import StarwatchTelemetry

/// Deletes what is past its time, keeps the outbox within its bounds, stores the recent log, and sees to it that the
/// agent's health is known.
package final class HousekeepingService: Service {
    private let store: Store
    private let outbox: OutboxOptions
    private let environment: Environment
    private let pipeline: LogPipeline
    private let recorder: LogRecorder
    private let beat: @Sendable () async -> Void
    private let beatInterval: Duration

    /// How often work is done, and health looked at.
    static let interval = Duration.seconds(10)
    /// How soon after the start it cleans: an agent may be started more often than its interval is long.
    static let firstCleanup = Duration.seconds(300)
    /// How often a store that failed is tried.
    static let probeInterval = Duration.seconds(2)

    /// - Parameters:
    ///   - beat: Looks at the agent's health. One that does not return is how a stuck store is noticed.
    ///   - beatInterval: How often; never less often than ``interval``, nor more often than every 50 ms.
    package init(
        store: Store,
        outbox: OutboxOptions,
        environment: Environment,
        pipeline: LogPipeline,
        recorder: LogRecorder,
        beat: @escaping @Sendable () async -> Void = {},
        beatInterval: Duration? = nil
    ) {
        self.store = store
        self.outbox = outbox
        self.environment = environment
        self.pipeline = pipeline
        self.recorder = recorder
        self.beat = beat
        self.beatInterval = max(min(beatInterval ?? Self.interval, Self.interval), .milliseconds(50))
    }

    private var clock: ServerClock { environment.clock }
    private var time: any TimeSource { environment.time }
    private var logger: Logger { environment.logger }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var nextWork = self.time.monotonic + Self.interval
            var nextCleanup = self.time.monotonic + min(Self.firstCleanup, self.outbox.cleanupInterval)
            while !Task.isCancelled {
                await self.beat()
                let isWell = self.store.health.failure == nil
                try await self.time.sleep(for: min(self.beatInterval, isWell ? Self.interval : Self.probeInterval))
                guard self.time.monotonic >= nextWork else { continue }
                nextWork = self.time.monotonic + Self.interval
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
        // A machine may start with a clock that is years ahead.
        if !clock.isConfirmed { policy.spareWhatIsIrreplaceable() }
        do {
            // The earlier of the two clocks: a server whose clock runs ahead must not have dead letters deleted.
            let counts = try await store.retention(policy, now: min(clock.now, time.now))
            if counts.outbox > 0 { logger.log(.retentionCleaned, [.rowCount: .number(counts.outbox)]) }
        } catch {
            logger.log(.retentionStoreFailed, [.error: "\(error.description)"])
        }
    }
}

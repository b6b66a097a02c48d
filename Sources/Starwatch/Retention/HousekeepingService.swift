import Logging
import ServiceLifecycle
import StarwatchCore
package import StarwatchStore
package import StarwatchTelemetry

/// Deletes expired data, limits the outbox, stores the recent log, and publishes the agent's health.
package final class HousekeepingService: Service {
    private let store: Store
    private let outbox: OutboxOptions
    private let environment: Environment
    private let pipeline: LogPipeline
    private let recorder: LogRecorder
    private let beat: @Sendable () async -> Void
    private let beatInterval: Duration

    /// Interval of housekeeping, a divisor of ``ClockLook/interval``.
    static let interval = Duration.seconds(10)
    /// The largest difference between two times of one look, which are whole milliseconds of different clocks.
    private static let rounding = Duration.milliseconds(1)
    /// Delay of the first cleanup. It is short, so that an agent that restarts often cleans up too.
    static let firstCleanup = Duration.seconds(300)
    /// Interval of retries after the store failed.
    static let probeInterval = Duration.seconds(2)

    /// - Parameters:
    ///   - beat: Checks the agent's health. A call that does not return reveals a stuck store.
    ///   - beatInterval: Interval of `beat`, from 50 ms on; at most and by default ``ClockLook/interval``, because a check wakes
    ///     the store's thread.
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
        self.beatInterval = max(min(beatInterval ?? ClockLook.interval, ClockLook.interval), .milliseconds(50))
    }

    private var clock: ServerClock { environment.clock }
    private var time: any TimeSource { environment.time }
    private var logger: Logger { environment.logger }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var nextSample = self.time.monotonic
            var nextBeat = nextSample
            // Nobody encrypts the database of a running agent.
            let isEncrypted = await self.store.isEncrypted
            var nextCleanup = self.time.monotonic + min(Self.firstCleanup, self.outbox.cleanupInterval)
            while !Task.isCancelled {
                if self.store.health.failure != nil || self.time.monotonic + Self.rounding >= nextBeat {
                    await self.beat()
                    nextBeat = self.time.monotonic + min(self.beatInterval, self.untilLook(every: ClockLook.interval))
                }
                let untilWork = self.untilLook(every: Self.interval)
                let isWell = self.store.health.failure == nil
                let untilBeat = isWell ? max(nextBeat - self.time.monotonic, .zero) : Self.probeInterval
                try await self.time.sleep(for: min(untilWork, untilBeat))
                guard untilWork <= untilBeat + Self.rounding else { continue }
                self.pipeline.flushExpired()
                await self.recorder.flush(to: self.store)
                if self.time.monotonic >= nextSample {
                    // A missing sample makes a total cover more than a day, which is no failure.
                    try? await self.store.sampleLedger(now: self.clock.now)
                    nextSample = self.time.monotonic + Store.sampleInterval
                }
                if isEncrypted {
                    await self.encryptAgain()
                    await self.endSigningKeys()
                }
                // Nothing is deleted before the pages are known to be sound.
                guard self.time.monotonic >= nextCleanup, self.store.pageCheckPhase != .running else { continue }
                await self.pass()
                nextCleanup = self.time.monotonic + self.outbox.cleanupInterval
            }
        }
        await recorder.flush(to: store)
    }

    private func untilLook(every interval: Duration) -> Duration {
        let now = time.now
        return ClockLook.next(after: now, every: interval) - now
    }

    /// Encrypts the values of retiring data keys again, in steps between which other work runs.
    package func encryptAgain() async {
        var rows = 0
        // The rest waits for the next round, so that a long pass does not keep the health checks waiting.
        let end = time.monotonic + .seconds(5)
        do {
            while !Task.isCancelled, time.monotonic < end {
                let step = try await store.reseal()
                rows += step.rows
                environment.metrics.reencryption.set(step.progress)
                guard step.isFinished else { continue }
                if rows > 0 { logger.log(.keysRotationEnded, [.rowCount: .number(rows)]) }
                return
            }
        } catch {
            logger.log(.keysStoreFailed, [.error: "\(error)"])
        }
    }

    /// Destroys the signing keys whose grace is over.
    package func endSigningKeys() async {
        // A machine can start with a clock that is years ahead.
        guard clock.isConfirmed else { return }
        do {
            let count = try await store.endSigningKeys(now: min(clock.now, time.now))
            if count > 0 { logger.log(.keysRevoked, [.count: .number(count)]) }
        } catch {
            logger.log(.keysStoreFailed, [.error: "\(error)"])
        }
    }

    /// Runs one cleanup.
    package func pass() async {
        var policy = RetentionPolicy()
        policy.delivered = outbox.keepDelivered
        // A machine can start with a clock that is years ahead.
        if !clock.isConfirmed { policy.spareWhatIsIrreplaceable() }
        do {
            // The earlier clock counts, so that a server whose clock runs ahead does not cause dead letters to be
            // deleted.
            let counts = try await store.retention(policy, now: min(clock.now, time.now))
            if counts.outbox > 0 { logger.log(.retentionCleaned, [.rowCount: .number(counts.outbox)]) }
        } catch {
            logger.log(.retentionStoreFailed, [.error: "\(error.description)"])
        }
    }
}

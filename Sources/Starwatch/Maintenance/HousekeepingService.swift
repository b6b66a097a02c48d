import Logging
import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore
package import StarwatchTelemetry

/// Deletes expired data, limits the outbox, stores the recent log, and publishes the agent's health.
package final class HousekeepingService: Service {
    private let outbox: OutboxOptions
    private let environment: Environment
    private let pipeline: LogPipeline
    private let recorder: LogRecorder
    private let reportHealth: @Sendable () async -> Void
    private let healthInterval: Duration

    /// The time after which log lines are stored, and the interval of an encryption that has not ended. Other work waits for
    /// the next ``ClockLook``, because each wake-up of an idle agent costs CPU time.
    static let interval = Duration.seconds(10)
    /// The difference of two deadlines at one look: it is a whole millisecond of the wall clock, deadlines are monotonic.
    private static let rounding = Duration.milliseconds(1)
    /// Delay of the first cleanup. It is short, so that an agent that restarts often cleans up too.
    static let firstCleanup = Duration.seconds(300)
    /// Interval of retries after the store failed.
    static let probeInterval = Duration.seconds(2)

    /// - Parameters:
    ///   - reportHealth: Checks the agent's health. A call that does not return reveals a stuck store.
    ///   - healthInterval: Interval of `reportHealth`, from 50 ms to 30 s, the default: each check wakes the store's thread.
    package init(
        outbox: OutboxOptions,
        environment: Environment,
        pipeline: LogPipeline,
        recorder: LogRecorder,
        reportHealth: @escaping @Sendable () async -> Void = {},
        healthInterval: Duration? = nil
    ) {
        (self.outbox, self.environment, self.pipeline) = (outbox, environment, pipeline)
        (self.recorder, self.reportHealth) = (recorder, reportHealth)
        self.healthInterval = max(min(healthInterval ?? ClockLook.interval, ClockLook.interval), .milliseconds(50))
    }

    private var store: Store { environment.store }
    private var clock: ServerClock { environment.clock }
    private var time: any TimeSource { environment.time }
    private var logger: Logger { environment.logger }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            let start = self.time.monotonic
            var (nextReport, nextSample, nextWork) = (start, start, start + Self.interval)
            // Nobody encrypts the database of a running agent.
            let isEncrypted = await self.store.keys.isEncrypted
            var nextCleanup = start + min(Self.firstCleanup, self.outbox.cleanupInterval)
            var isRescued = false
            while !Task.isCancelled {
                let isWell = self.store.health.failure == nil
                let untilWork = max(nextWork - self.time.monotonic, .zero)
                if isWell {
                    let wait = min(untilWork, max(nextReport - self.time.monotonic, .zero))
                    await self.recorder.housekeeping.wait(for: wait, on: self.time)
                } else {
                    // Each failed probe raises the signal.
                    try? await self.time.sleep(for: min(untilWork, Self.probeInterval))
                }
                if Task.isCancelled { break }
                // Before the work, so that a slow one delays no sign of life.
                if !isWell || self.isDue(nextReport) {
                    await self.reportHealth()
                    isRescued = await self.rescue(isDone: isRescued)
                    nextReport = self.time.monotonic + min(self.healthInterval, ClockLook.wait(from: self.time.now))
                }
                if self.recorder.holdsLines { nextWork = min(nextWork, self.time.monotonic + Self.interval) }
                guard self.isDue(nextWork) else { continue }
                self.pipeline.flushExpired()
                await self.recorder.flush(to: self.store)
                if self.time.monotonic >= nextSample {
                    // A missing sample makes a total cover more than a day, which is no failure.
                    try? await self.store.status.sampleLedger(now: self.clock.now)
                    nextSample = self.time.monotonic + StoreStatus.sampleInterval
                }
                var isEncrypting = false
                if isEncrypted {
                    isEncrypting = await !self.encryptAgain()
                    await self.endSigningKeys()
                }
                // Nothing is deleted before the pages are known to be sound.
                if self.time.monotonic >= nextCleanup, self.store.status.pageCheckPhase != .running {
                    // A failed one is tried again soon, because the agent is degraded until one succeeds.
                    let isDone = await self.pass()
                    let wait =
                        isDone ? self.outbox.cleanupInterval : min(Self.firstCleanup, self.outbox.cleanupInterval)
                    nextCleanup = self.time.monotonic + wait
                }
                nextWork = self.time.monotonic + (isEncrypting ? Self.interval : ClockLook.wait(from: self.time.now))
            }
        }
        await recorder.flush(to: store)
    }

    private func isDue(_ deadline: Duration) -> Bool { time.monotonic + Self.rounding >= deadline }

    /// Copies the database if its file is lost.
    ///
    /// - Parameter isDone: Whether that was tried since the file was lost.
    /// - Returns: The same after this look.
    private func rescue(isDone: Bool) async -> Bool {
        guard store.status.isFileLost else { return false }
        guard !isDone else { return true }
        do {
            if let copy = try await store.status.rescue(now: clock.now) { logger.log(.storageLost, [.copy: "\(copy)"]) }
        } catch {
            logger.log(.storageLost, [.error: "\(error.description)"])
        }
        return true
    }

    /// Encrypts the values of retiring data keys again, in steps between which other work runs.
    ///
    /// - Returns: `false` if there is more to encrypt.
    @discardableResult
    package func encryptAgain() async -> Bool {
        var rows = 0
        // The rest waits for the next round, so that a long pass does not keep the health checks waiting.
        let end = time.monotonic + .seconds(5)
        do {
            while !Task.isCancelled, time.monotonic < end {
                let step = try await store.keys.reseal()
                rows += step.rows
                environment.metrics.reencryption.set(step.progress)
                store.health.ended(.keys, failed: false)
                guard step.isFinished else { continue }
                if rows > 0 { logger.log(.keysRotationEnded, [.rowCount: .number(rows)]) }
                return true
            }
        } catch {
            logger.log(.keysStoreFailed, [.error: "\(error)"])
            store.health.ended(.keys, failed: true)
        }
        return false
    }

    /// Destroys the signing keys whose grace is over.
    package func endSigningKeys() async {
        // A machine can start with a clock that is years ahead.
        guard clock.isConfirmed else { return }
        do {
            let count = try await store.keys.endSigningKeys(now: min(clock.now, time.now))
            if count > 0 { logger.log(.keysRevoked, [.count: .number(count)]) }
        } catch {
            logger.log(.keysStoreFailed, [.error: "\(error)"])
        }
    }

    /// Runs one cleanup.
    ///
    /// - Returns: Whether it succeeded.
    @discardableResult
    package func pass() async -> Bool {
        var policy = RetentionPolicy()
        policy.delivered = outbox.keepDelivered
        // A machine can start with a clock that is years ahead.
        if !clock.isConfirmed { policy.spareWhatIsIrreplaceable() }
        do {
            // The earlier clock counts, so that a server whose clock runs ahead does not cause dead letters to be
            // deleted.
            let counts = try await store.retention.apply(policy, now: min(clock.now, time.now))
            let cleaned = counts["notification_outbox"] ?? 0
            if cleaned > 0 { logger.log(.retentionCleaned, [.rowCount: .number(cleaned)]) }
            store.health.ended(.retention, failed: false)
            return true
        } catch {
            logger.log(.retentionStoreFailed, [.error: "\(error.description)"])
            store.health.ended(.retention, failed: true)
            return false
        }
    }
}

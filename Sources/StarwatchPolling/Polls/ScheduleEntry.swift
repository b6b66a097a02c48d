import StarwatchCore
import StarwatchStore
import Synchronization

/// A host's running schedule, for any request and response types.
final class ScheduleEntry: ScheduledWork {
    /// Outcome of a run.
    struct Report: Sendable {
        var error: PollError?
        /// `true` if the server had no content, or no new content.
        var isEmpty = false
        /// The validator of the next request; `nil`: it stays the same.
        var validator: StoredValidator?
    }

    /// State that all schedules of a manager share, with the limit of concurrent runs.
    typealias Shared = (time: any TimeSource, store: Store?, limit: ConcurrencyLimit)

    private struct State {
        var stored: StoredSchedule
        var isRunning = false
        var deferredUntil: Timestamp?
        var emptyRuns = 0
        /// The number of runs skipped since the last one.
        var leftOut = 0
    }

    let id: ScheduleID
    let schedule: Schedule
    let catchUp: CatchUp
    /// Raised when it is cancelled.
    let isCancelled = Signal()
    /// The numbers of its ``PollSchedule/SlowDown``.
    private let slowDown: (afterEmptyRuns: Int, factor: Int)?
    private let shared: Shared
    private let body: @Sendable (StoredValidator?) async -> Report
    private let state: Mutex<State>

    init(
        id: ScheduleID,
        schedule: Schedule,
        catchUp: CatchUp,
        slowDown: (afterEmptyRuns: Int, factor: Int)?,
        stored: StoredSchedule,
        shared: Shared,
        body: @escaping @Sendable (StoredValidator?) async -> Report
    ) {
        (self.id, self.schedule, self.catchUp, self.slowDown) = (id, schedule, catchUp, slowDown)
        (self.shared, self.body) = (shared, body)
        state = Mutex(State(stored: stored))
    }

    /// The schedule's state at `now`.
    func status(now: Timestamp) -> PollStatus {
        state.withLock { state in
            let isDeferred = state.deferredUntil.map { $0 > now } ?? false
            return PollStatus(
                id: id,
                state: state.isRunning ? .running : isDeferred ? .deferred : .idle,
                lastAttempt: state.stored.lastAttempt,
                lastSuccess: state.stored.lastSuccess,
                nextRun: state.stored.nextRun,
                consecutiveFailures: state.stored.failures,
                lastError: state.stored.lastError.map(PollError.Code.init(rawValue:))
            )
        }
    }

    // MARK: - ScheduledWork

    func times() -> ScheduleTimes {
        state.withLock {
            // Only this loop starts runs of the schedule.
            (nextRun: $0.stored.nextRun, lastRun: $0.stored.lastAttempt, isRunning: false)
        }
    }

    func plan(_ next: Timestamp?) async { if setNext(next) { await save() } }

    func leavesOut() -> Bool {
        guard let slowDown else { return false }
        return state.withLock { state in
            guard state.emptyRuns >= slowDown.afterEmptyRuns, state.leftOut + 1 < slowDown.factor else { return false }
            state.leftOut += 1
            return true
        }
    }

    func join() async -> Timestamp? { nil }

    // MARK: - Running

    /// - Parameter next: Stored only after the run: one that a crash interrupted is due again.
    func run(planned: Timestamp?, next: Timestamp?) async -> Timestamp? {
        let report = await shared.limit.run { await self.runOnce() }
        // If the run was cancelled, it is due again when the schedule resumes.
        guard let report, report.error?.code != .cancelled || !Task.isCancelled else { return nil }
        if planned != nil { _ = setNext(next) }
        await save()
        guard let error = report.error, error.isRetryable else { return nil }
        let now = shared.time.now
        if let wait = error.retryAfter { return now + max(wait, .seconds(1)) }
        switch error.code {
        // Another request is the trial of the circuit, and its outcome is not known.
        case .circuitOpen: return now + ExtraRun.afterAnothers
        case .network: return now + ExtraRun.afterNetworkFailure
        case .timeout, .server: return now + ExtraRun.afterServerFailure
        default: return nil
        }
    }

    private func runOnce() async -> Report {
        let validator = state.withLock { state in
            state.isRunning = true
            state.leftOut = 0
            state.stored.lastAttempt = shared.time.now
            return state.stored.validator
        }
        let report = await body(validator)
        let now = shared.time.now
        state.withLock { state in
            state.isRunning = false
            state.deferredUntil = nil
            if let error = report.error {
                // A cancelled run has not failed.
                guard error.code != .cancelled else { return }
                state.stored.failures += 1
                state.stored.lastError = error.code.rawValue
                state.deferredUntil = error.retryAfter.map { now + $0 }
            } else {
                state.stored.failures = 0
                state.stored.lastError = nil
                state.stored.lastSuccess = now
                if let validator = report.validator { state.stored.validator = validator }
                state.emptyRuns = report.isEmpty ? state.emptyRuns + 1 : 0
            }
        }
        return report
    }

    /// - Returns: Whether the plan changed.
    private func setNext(_ next: Timestamp?) -> Bool {
        state.withLock { state in
            defer { state.stored.nextRun = next }
            return state.stored.nextRun != next
        }
    }

    private func save() async {
        let stored = state.withLock(\.stored)
        // If this write fails, the next run stores it; until then it is kept in memory.
        try? await shared.store?.host.saveSchedule(stored, id: id.rawValue, now: shared.time.now)
    }
}

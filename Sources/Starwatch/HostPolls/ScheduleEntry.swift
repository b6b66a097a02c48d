import StarwatchCore
import StarwatchStore
import Synchronization

/// A schedule at work, whatever its types are.
final class ScheduleEntry: Sendable {
    /// How a run ended.
    struct Report: Sendable {
        var error: PollError?
        /// Whether the server had nothing, or nothing new.
        var isEmpty = false
        /// What to ask with the next time; `nil`: as before.
        var validator: StoredValidator?
    }

    private struct State {
        var stored: StoredSchedule
        var isRunning = false
        var deferredUntil: Timestamp?
        var emptyRuns = 0
        /// Runs left out since the last one that was made.
        var leftOut = 0
    }

    let id: ScheduleID
    let schedule: Schedule
    let catchUp: CatchUp
    /// Raised when it is cancelled.
    let isCancelled = Signal()
    private let slowDown: (afterEmptyRuns: Int, factor: Int)?
    private let body: @Sendable (StoredValidator?) async -> Report
    private let state: Mutex<State>

    init(
        id: ScheduleID,
        schedule: Schedule,
        catchUp: CatchUp,
        slowDown: (afterEmptyRuns: Int, factor: Int)?,
        stored: StoredSchedule,
        body: @escaping @Sendable (StoredValidator?) async -> Report
    ) {
        self.id = id
        self.schedule = schedule
        self.catchUp = catchUp
        self.slowDown = slowDown
        self.body = body
        state = Mutex(State(stored: stored))
    }

    var stored: StoredSchedule { state.withLock(\.stored) }

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

    func decision(now: Timestamp, isRunning: Bool = false) -> SchedulerDecision {
        let stored = stored
        return SchedulerDecision.decide(
            schedule: schedule,
            nextRun: stored.nextRun,
            lastRun: stored.lastAttempt,
            now: now,
            catchUp: catchUp,
            isRunning: isRunning
        )
    }

    /// - Returns: Whether the plan changed.
    func plan(_ next: Timestamp?) -> Bool {
        state.withLock { state in
            defer { state.stored.nextRun = next }
            return state.stored.nextRun != next
        }
    }

    /// Whether the run that is due is one of those that are left out where nothing happens.
    func leavesOut() -> Bool {
        guard let slowDown else { return false }
        return state.withLock { state in
            guard state.emptyRuns >= slowDown.afterEmptyRuns, state.leftOut + 1 < slowDown.factor else { return false }
            state.leftOut += 1
            return true
        }
    }

    /// One run. Runs of one schedule never overlap: whoever follows it makes them one after the other.
    func run(on time: any TimeSource) async -> Report {
        let validator = state.withLock { state in
            state.isRunning = true
            state.leftOut = 0
            state.stored.lastAttempt = time.now
            return state.stored.validator
        }
        let report = await body(validator)
        let now = time.now
        state.withLock { state in
            state.isRunning = false
            state.deferredUntil = nil
            if let error = report.error {
                // Given up is not failed.
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
}

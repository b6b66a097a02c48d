package import StarwatchCore

package protocol ScheduledWork: Sendable {
    var schedule: Schedule { get }
    var catchUp: CatchUp { get }
    /// This instance's delay after the scheduled time.
    var splay: Duration { get }

    /// Returns the next planned run, the last one, and whether one is in flight.
    func times() -> ScheduleTimes
    /// Stores the next planned run; `nil`: the schedule does not fire any more.
    func plan(_ next: Timestamp?) async
    /// Runs once. The run counts as made when this returns.
    ///
    /// - Parameters:
    ///   - planned: The scheduled time, without the splay; `nil` for an extra run outside the schedule.
    ///   - next: The next planned run.
    /// - Returns: The time of an extra run; `nil`: wait for the next planned run.
    func run(planned: Timestamp?, next: Timestamp?) async -> Timestamp?
    /// Waits for the run in flight, which replaces the scheduled one.
    func join() async -> Timestamp?
    /// Returns whether a run outside the schedule is due now, such as the first one.
    func startsNow() async -> Bool
    /// Returns whether the due run is skipped; if so, the loop plans the next one.
    func leavesOut() -> Bool
    /// Counts scheduled runs by their outcome.
    func count(_ outcomes: [ScheduleOutcome: Int])
    /// Called before each decision.
    func lookedAt()
}

/// The times that the schedule needs: the next run without the splay, `nil` if none was ever planned, and the last run, `nil` if
/// none ever started.
package typealias ScheduleTimes = (nextRun: Timestamp?, lastRun: Timestamp?, isRunning: Bool)

extension ScheduledWork {
    package var splay: Duration { .zero }
    package func startsNow() async -> Bool { false }
    package func leavesOut() -> Bool { false }
    package func count(_ outcomes: [ScheduleOutcome: Int]) {}
    package func lookedAt() {}

    /// Follows the schedule until the task is cancelled.
    package func follow(on time: any TimeSource) async {
        var extra: Timestamp?
        while !Task.isCancelled {
            let next = await turn(&extra, on: time)
            let now = time.now
            let look = ClockLook.next(after: now)
            let until = min(next ?? look, look)
            if until > now { try? await time.sleep(for: until - now) }
        }
    }

    /// Makes the run that is due, if one is.
    ///
    /// - Parameter extra: The time of a run outside the schedule, such as a retry before the next scheduled time; `nil`: none.
    /// - Returns: The time of the next run; `nil` if there is none any more.
    package func turn(_ extra: inout Timestamp?, on time: any TimeSource) async -> Timestamp? {
        lookedAt()
        if await startsNow() { extra = time.now }
        let now = time.now
        let decision = decide(times(), at: now)
        switch decision {
        case .sleep(_, let planned):
            await plan(planned)
            if let due = extra, due <= now { extra = await run(planned: nil, next: planned) }
        case .run(_, _, _, let next) where leavesOut(): await plan(next)
        case .run(_, let planned, _, let next):
            count(decision.outcomes)
            extra = await run(planned: planned, next: next)
            await coalesce(at: time.now)
        case .skip(_, let next):
            count(decision.outcomes)
            await plan(next)
        case .coalesce(_, let next):
            count(decision.outcomes)
            await plan(next)
            extra = await join()
            await coalesce(at: time.now)
        case .idle: extra = nil
        }
        let planned = times().nextRun.map { $0 + splay }
        return extra.map { min($0, planned ?? $0) } ?? planned
    }

    /// Counts the runs that fell due during the run that has just ended and replaces them.
    private func coalesce(at now: Timestamp) async {
        var times = times()
        times.isRunning = true
        let decision = decide(times, at: now)
        guard case .coalesce(_, let next) = decision else { return }
        count(decision.outcomes)
        await plan(next)
    }

    private func decide(_ times: ScheduleTimes, at now: Timestamp) -> SchedulerDecision {
        SchedulerDecision.decide(
            schedule: schedule,
            nextRun: times.nextRun,
            lastRun: times.lastRun,
            now: now,
            catchUp: catchUp,
            splay: splay,
            isRunning: times.isRunning
        )
    }
}

/// Delay of an extra run, outside the schedule, after a failed one.
package enum ExtraRun {
    /// Recovery must take less than 30 s after the network returns.
    package static let afterNetworkFailure = Duration.seconds(15)
    /// Delay after a run that another one replaced, or after a change of identity. With the 15 s of the other run, it
    /// stays below 30 s.
    package static let afterAnothers = Duration.seconds(5)
    package static let afterServerFailure = Duration.seconds(60)
    /// A failed store is probed every 2 s, so by then it has recovered if the cause is gone.
    package static let afterStoreFailure = Duration.seconds(10)
    /// The wait after `count` store failures in a row, at least 1. It grows because each run costs the server a request
    /// where only some writes fail.
    package static func afterStoreFailures(_ count: Int) -> Duration { afterStoreFailure * (1 << min(count - 1, 6)) }
    /// Changes that wait at the server are fetched when there is room, not at the next scheduled time.
    package static let whileOutOfRoom = Duration.seconds(60)
}

/// Schedule of a poll.
public enum PollTiming: Sendable, Hashable {
    /// A cron expression of five fields, in an IANA time zone.
    case cron(String, timezone: String)
    /// An interval, at least 1 s. The first run is at the start.
    case every(Duration)
}

/// The reason why a timing is unusable.
package enum PollTimingError: Error, Sendable, Hashable, CustomStringConvertible {
    case zone(ZoneError)
    case cron(CronError)

    package var description: String {
        switch self {
        case .zone(let error): "the timezone \(error)"
        case .cron(let error): "\(error)"
        }
    }
}

extension Schedule {
    /// - Throws: ``PollTimingError`` if the zone or the cron expression is invalid.
    package init(_ timing: PollTiming) throws(PollTimingError) {
        switch timing {
        case .every(let interval): self = .every(interval)
        case .cron(let text, let timezone):
            let zone: any TimeZoneRules
            do throws(ZoneError) { zone = try ZoneDatabase.ofMachine.zone(timezone) } catch { throw .zone(error) }
            do { self = .cron(try CronExpression(text), zone: zone) } catch { throw .cron(error) }
        }
    }
}

import StarwatchCore
import StarwatchTestKit
import Synchronization
import Testing

@testable import StarwatchPolling

@Suite struct ScheduleLoopTests {
    /// Skips its first due run, and ends with the next one. It does not plan by itself.
    private final class Work: ScheduledWork {
        struct State {
            var nextRun: Timestamp?
            var skipped = 0
            var runs: [Timestamp] = []
        }

        let schedule = Schedule.every(.seconds(60))
        let catchUp = CatchUp.latest
        let state: Mutex<State>
        let end = Signal()

        init(nextRun: Timestamp) { state = Mutex(State(nextRun: nextRun)) }

        func times() -> ScheduleTimes {
            (state.withLock(\.nextRun), nil, false)
        }

        func plan(_ next: Timestamp?) async { state.withLock { $0.nextRun = next } }

        func run(planned: Timestamp?, next: Timestamp?) async -> Timestamp? {
            state.withLock { state in
                state.nextRun = next
                if let planned { state.runs.append(planned) }
            }
            end.raise()
            return nil
        }

        func join() async -> Timestamp? { nil }

        func leavesOut() -> Bool {
            state.withLock { state in
                state.skipped += 1
                // Skips one run; more would be the same run again.
                return state.skipped < 2
            }
        }
    }

    @Test func aSkippedRunIsPlannedByTheLoop() async {
        let clock = ManualClock()
        let work = Work(nextRun: ManualClock.start)
        let loop = Task { await work.follow(on: clock) }
        await clock.run(until: ManualClock.start + .seconds(60))
        await work.end.wait()
        loop.cancel()
        await loop.value
        #expect(work.state.withLock(\.runs) == [ManualClock.start + .seconds(60)])
    }
}

import StarwatchTestKit
import Testing

@testable import StarwatchPolling

@Suite(.timeLimit(.minutes(5))) struct SignalTests {
    @Test func aWakeThatComesWithTheEndOfAWaitIsForTheNext() async {
        let signal = Signal()
        signal.raise()
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await signal.wait()
        }
        #expect(await cancelled.value == false)
        #expect(await signal.wait())
    }

    @Test func aWakeThatComesFirstIsKept() async {
        let signal = Signal()
        signal.raise()
        await signal.wait()
    }

    @Test func severalWakesAreOne() async {
        let signal = Signal()
        let clock = ManualClock()
        signal.raise()
        signal.raise()
        await signal.wait()
        // The second wait has nothing to wake it but the clock.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait(for: .seconds(5), on: clock) }
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(5))
        }
        #expect(clock.slept == [.seconds(5)])
    }

    @Test func aWakeEndsTheWaitBeforeItsTime() async {
        let signal = Signal()
        let clock = ManualClock()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait(for: .seconds(3600), on: clock) }
            await clock.sleepers(atLeast: 1)
            signal.raise()
        }
        #expect(clock.sleeperCount == 0)
        #expect(clock.now == ManualClock.start)
    }

    @Test func cancellationEndsTheWait() async {
        let signal = Signal()
        let clock = ManualClock()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signal.wait(for: .seconds(3600), on: clock) }
            await clock.sleepers(atLeast: 1)
            group.cancelAll()
        }
        #expect(clock.sleeperCount == 0)
    }
}

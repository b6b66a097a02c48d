import Testing

@testable import Starwatch

@Suite struct AbortableWorkTests {
    private let clock = ManualClock()

    @Test func workRunsToItsEndWithoutAnAbort() async {
        let work = AbortableWork()
        #expect(await work.run { 7 } == 7)
        await work.abort()
    }

    @Test func abortingEndsTheWorkAndWaitsForItsEnd() async {
        let work = AbortableWork()
        let ended = Signal()
        let clock = clock
        async let result = work.run {
            let isCancelled = (try? await clock.sleep(for: .seconds(1000))) == nil
            ended.raise()
            return isCancelled
        }
        await clock.sleepers(atLeast: 1)
        await work.abort()
        // The signal is already raised, so this returns at once.
        await ended.wait()
        #expect(await result)
        // Work that starts after the abort is not cancelled.
        #expect(await work.run { Task.isCancelled } == false)
    }

    @Test func cancellingTheCallerCancelsTheWork() async {
        let work = AbortableWork()
        let clock = clock
        let task = Task { await work.run { (try? await clock.sleep(for: .seconds(1000))) == nil } }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        #expect(await task.value)
    }
}

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
        // It was raised before: this does not wait.
        await ended.wait()
        #expect(await result)
        // What begins afterwards is not given up.
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

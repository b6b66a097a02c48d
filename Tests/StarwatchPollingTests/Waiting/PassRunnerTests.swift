import StarwatchTestKit
import Testing

@testable import StarwatchPolling

@Suite struct PassRunnerTests {
    private let clock = ManualClock()

    @Test func workRunsToItsEndWithoutAnAbort() async {
        let work = PassRunner()
        #expect(await work.run(concurrently: true) { 7 } == 7)
        await work.abort()
    }

    @Test func abortingEndsTheWorkAndWaitsForItsEnd() async {
        let work = PassRunner()
        let ended = Signal()
        let clock = clock
        async let result = work.run(concurrently: true) {
            let isCancelled = (try? await clock.sleep(for: .seconds(1000))) == nil
            ended.raise()
            return isCancelled
        }
        await clock.sleepers(atLeast: 1)
        await work.abort()
        // The signal is already raised, so this returns at once.
        await ended.wait()
        #expect(await result == true)
        // Work that starts after the abort is not cancelled.
        #expect(await work.run(concurrently: true) { Task.isCancelled } == false)
    }

    @Test func abortingCancelsTheWorkInTheOrderInWhichItBegan() async {
        let work = PassRunner()
        let (cancelled, ends) = AsyncStream.makeStream(of: Int.self)
        await withDiscardingTaskGroup { group in
            for number in 0..<20 {
                let (began, never) = (Signal(), Promise<Void>())
                group.addTask {
                    _ = await work.run(concurrently: true) {
                        await withTaskCancellationHandler {
                            began.raise()
                            _ = await never.value()
                        } onCancel: {
                            ends.yield(number)
                        }
                    }
                }
                await began.wait()
            }
            await work.abort()
        }
        ends.finish()
        #expect(await cancelled.reduce(into: []) { $0.append($1) } == Array(0..<20))
    }

    @Test func cancellingTheCallerCancelsTheWork() async {
        let work = PassRunner()
        let clock = clock
        let task = Task { await work.run(concurrently: true) { (try? await clock.sleep(for: .seconds(1000))) == nil } }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        #expect(await task.value == true)
    }
}

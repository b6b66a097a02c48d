import Synchronization
import Testing

@testable import StarwatchPolling

@Suite(.timeLimit(.minutes(5))) struct ConcurrencyLimitTests {
    /// Counts who runs, and the most that ever did.
    private final class Gauge: Sendable {
        private let state = Mutex((now: 0, most: 0))
        func enter() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }
        func leave() { state.withLock { $0.now -= 1 } }
        var most: Int { state.withLock(\.most) }
    }

    @Test(arguments: [1, 3])
    func neverMoreThanTheLimitRun(limit: Int) async {
        let turn = ConcurrencyLimit(limit)
        let gauge = Gauge()
        let results = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<50 {
                group.addTask {
                    await turn.run {
                        gauge.enter()
                        await Task.yield()
                        await Task.yield()
                        gauge.leave()
                        return index
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(gauge.most <= limit)
        #expect(Set(results.compactMap { $0 }) == Set(0..<50))
    }

    @Test func asManyAsTheLimitRunAtOnce() async {
        let turn = ConcurrencyLimit(2)
        let (first, second) = (Signal(), Signal())
        await withTaskGroup(of: Void.self) { group in
            // Each waits for the other: one after the other would never end.
            group.addTask {
                _ = await turn.run {
                    first.raise()
                    await second.wait()
                }
            }
            group.addTask {
                _ = await turn.run {
                    second.raise()
                    await first.wait()
                }
            }
        }
    }

    @Test func whoIsCancelledWhileWaitingDoesNotRunAndBlocksNobody() async {
        let turn = ConcurrencyLimit(1)
        let (started, release) = (Signal(), Signal())
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = await turn.run {
                    started.raise()
                    await release.wait()
                }
            }
            await started.wait()
            let result = await withTaskGroup(of: Int?.self) { inner in
                inner.addTask { await turn.run { 1 } }
                inner.cancelAll()
                return await inner.next() ?? 0
            }
            #expect(result == nil)
            release.raise()
        }
        #expect(await turn.run { 2 } == 2)
    }
}

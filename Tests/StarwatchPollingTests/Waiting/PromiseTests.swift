import StarwatchPolling
import Testing

@Suite struct PromiseTests {
    @Test func everyWaiterGetsTheFirstValueBeforeAndAfter() async {
        let promise = Promise<Int>()
        let values = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<5 { group.addTask { await promise.value() } }
            for _ in 0..<5 { group.addTask { await promise.outcome() } }
            promise.fulfil(1)
            promise.fulfil(2)
            promise.abandon()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 10))
        #expect(await promise.value() == 1)
    }

    @Test func anAbandonedPromiseHasNoValueEver() async {
        let promise = Promise<Int>()
        async let waiting = promise.value()
        promise.abandon()
        promise.fulfil(1)
        #expect(await waiting == nil)
        #expect(await promise.outcome() == nil)
    }

    @Test(.timeLimit(.minutes(5))) func aCancelledTaskStopsWaitingForTheValueAlone() async {
        let promise = Promise<Int>()
        let other = Task { await promise.value() }
        let cancelled = Task { await promise.value() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        promise.fulfil(1)
        #expect(await other.value == 1)
    }

    @Test(.timeLimit(.minutes(5))) func cancellationDoesNotEndTheWaitForAnOutcome() async {
        let promise = Promise<Int>()
        let waiting = Task { await promise.outcome() }
        waiting.cancel()
        promise.fulfil(1)
        #expect(await waiting.value == 1)
    }
}

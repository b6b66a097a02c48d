import StarwatchTestKit
import Synchronization
import Testing

@testable import StarwatchPolling

@Suite struct PollBatchTests {
    private let clock = ManualClock()
    /// Number of waiting items.
    private let open = Count()

    private func make(
        _ batches: Requests,
        wait: Duration = .milliseconds(50),
        limit: Int = 10
    ) -> PollBatch<Int, String> {
        PollBatch(wait: wait, limit: limit, time: clock, onAdd: { [open] in open.set($0) }) { items in
            await batches.add(items)
            return items.map { "answer \($0)" }
        }
    }

    /// The requests that were made, to be awaited.
    private actor Requests {
        private(set) var made: [[Int]] = []
        func add(_ items: [Int]) { made.append(items) }
    }

    @Test func whatComesWithinTheWaitGoesTogether() async throws {
        let requests = Requests()
        let batch = make(requests)
        async let first = batch.submit(1)
        await clock.sleepers(atLeast: 1)
        async let second = batch.submit(2)
        await open.reached(2)
        clock.advance(by: .milliseconds(49))
        #expect(await requests.made.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(try await [first, second] == ["answer 1", "answer 2"])
        #expect(await requests.made == [[1, 2]])
    }

    @Test func aFullBatchGoesAtOnceAndTheNextItemBeginsAnother() async throws {
        let requests = Requests()
        let batch = make(requests, limit: 2)
        async let first = batch.submit(1)
        await clock.sleepers(atLeast: 1)
        #expect(try await batch.submit(2) == "answer 2")
        #expect(try await first == "answer 1")
        async let third = batch.submit(3)
        await clock.sleepers(atLeast: 2)
        // The timer of the batch that has gone does not send this one early.
        clock.advance(by: .milliseconds(50))
        #expect(try await third == "answer 3")
        #expect(await requests.made == [[1, 2], [3]])
    }

    @Test func waitAndSizeAreBounded() async throws {
        let requests = Requests()
        let batch = make(requests, wait: .seconds(5), limit: 1000)
        let tasks = (0..<9).map { item in Task { try await batch.submit(item) } }
        await clock.sleepers(atLeast: 1)
        await open.reached(9)
        clock.advance(by: .milliseconds(99))
        for task in tasks { _ = try await task.value }
        #expect(await requests.made.map(\.count) == [9])
        let full = (0..<10).map { item in Task { try await batch.submit(item) } }
        for task in full { _ = try await task.value }
        #expect(await requests.made.map(\.count) == [9, 10])
    }

    @Test func oneWhoIsCancelledTakesNothingFromTheOthers() async throws {
        let requests = Requests()
        let batch = make(requests)
        let first = Task { try await batch.submit(1) }
        await clock.sleepers(atLeast: 1)
        async let second = batch.submit(2)
        await open.reached(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        clock.advance(by: .milliseconds(50))
        #expect(try await second == "answer 2")
        #expect(await requests.made == [[2]])
    }

    @Test func aBatchThatFailsOrIsNotAnsweredItemByItemFailsEachOfItsItems() async throws {
        struct Down: Error {}
        let failing = PollBatch<Int, Int>(wait: .zero, limit: 1, time: clock) { _ in throw Down() }
        await #expect(throws: Down.self) { try await failing.submit(1) }
        let short = PollBatch<Int, Int>(wait: .zero, limit: 1, time: clock) { _ in [] }
        await #expect(throws: PollError.self) { try await short.submit(1) }
    }
}

import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Testing

@testable import Starwatch

/// A pass that finds nothing is not made again before it could find something.
@Suite struct PassMemoryTests {
    private let start = Timestamp(seconds: 1_767_268_800)

    @Test func aPassRestsUntilSomethingIsWrittenOrDue() {
        let memory = PassMemory()
        #expect(!memory.rest(revision: 1, at: start).isResting)
        memory.remember(revision: 1, at: start, next: start + .seconds(40))
        let rest = memory.rest(revision: 1, at: start + .seconds(39))
        #expect(rest.isResting && rest.next == start + .seconds(40))
        #expect(!memory.rest(revision: 1, at: start + .seconds(40)).isResting)
        #expect(!memory.rest(revision: 2, at: start + .seconds(39)).isResting)
        memory.forget()
        #expect(!memory.rest(revision: 1, at: start + .seconds(39)).isResting)
    }

    @Test func itLooksAtLeastEveryTenMinutesAndUnderAClockThatWasSetBack() {
        let memory = PassMemory()
        memory.remember(revision: 1, at: start, next: nil)
        #expect(memory.rest(revision: 1, at: start + .seconds(300)).isResting)
        #expect(!memory.rest(revision: 1, at: start + .seconds(299)).isResting)
        #expect(!memory.rest(revision: 1, at: start + .seconds(600)).isResting)
    }

    @Test func nothingIsRememberedWhereOthersWrite() {
        let memory = PassMemory()
        memory.remember(revision: nil, at: start, next: nil)
        #expect(!memory.rest(revision: nil, at: start).isResting)
    }

    @Test func idlePassesDoNotReadTheDatabase() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            func transactions() -> Int {
                String(decoding: bench.agent.metrics.registry.page(.text), as: UTF8.self).split(separator: "\n")
                    .filter { $0.hasPrefix("starwatch_store_transaction_seconds_count") }
                    .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            }
            await bench.fetch(2)
            await bench.dispatch()
            await bench.acknowledge()
            // One more of each sees what the others have written.
            await bench.dispatch()
            await bench.acknowledge()
            await bench.dispatch()
            let before = transactions()
            #expect(before > 0)
            bench.clock.advance(by: .seconds(30))
            await bench.dispatch()
            await bench.acknowledge()
            #expect(transactions() == before)
            await bench.fetch(1)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench["first"].seen.map(\.count) == [2, 1])
        }
    }
}

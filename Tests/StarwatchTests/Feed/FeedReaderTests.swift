import StarwatchCore
import Synchronization
import Testing

import struct StarwatchStore.FeedRow
import enum StarwatchStore.StoreError

@testable import Starwatch

@Suite(.timeLimit(.minutes(5))) struct FeedReaderTests {
    private let clock = ManualClock()
    private let rows = Rows()

    private final class Rows: Sendable {
        private let all = Mutex<[FeedRow]>([])
        let asked = Mutex<[Int]>([])

        func add(_ sequences: ClosedRange<Int64>) {
            let new = sequences.map { FeedRow(sequence: $0, payload: [], storedAt: ManualClock.start) }
            all.withLock { $0 += new }
        }

        func read(_ after: Int64, _ limit: Int) -> [FeedRow] {
            asked.withLock { $0.append(limit) }
            return all.withLock { Array($0.filter { $0.sequence > after }.prefix(limit)) }
        }
    }

    private func reader(after sequence: Int64 = 0) -> FeedReader {
        FeedReader(after: sequence, heartbeat: .seconds(15), time: clock) { [rows] after, limit throws(StoreError) in
            rows.read(after, limit)
        }
    }

    private func sequences(_ step: FeedReader.Step) -> [Int64] {
        if case .notifications(let events) = step { events.compactMap(\.sequence) } else { [] }
    }

    @Test func whatIsMissedComesInBatchesOfABoundedSize() async {
        rows.add(1...50)
        let reader = reader(after: 3)
        #expect(sequences(await reader.next()) == Array(4...23))
        #expect(sequences(await reader.next()) == Array(24...43))
        #expect(sequences(await reader.next()) == Array(44...50))
        #expect(reader.position == 50)
        #expect(rows.asked.withLock { $0 }.allSatisfy { $0 == FeedReader.batch })
    }

    @Test func newsWakeAReaderThatWaits() async {
        let reader = reader()
        async let step = reader.next()
        await clock.sleepers(atLeast: 1)
        rows.add(1...1)
        reader.wake()
        #expect(sequences(await step) == [1])
    }

    @Test func withoutNewsThereIsAHeartbeat() async {
        let reader = reader()
        async let step = reader.next()
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(15))
        #expect(await step == .heartbeat)
        #expect(clock.slept == [.seconds(15)])
    }

    @Test func whatIsNotKeptAnyMoreIsSaid() async {
        rows.add(8...9)
        let reader = reader(after: 3)
        #expect(await reader.next() == .gap(after: 3, before: 8))
        #expect(sequences(await reader.next()) == [8, 9])
    }

    @Test func anEndIsForEverAndWakesWhoWaits() async {
        let ended = Mutex(0)
        let reader = FeedReader(
            after: 0,
            heartbeat: .seconds(15),
            time: clock,
            read: { _, _ throws(StoreError) in [] },
            onEnd: { _ in ended.withLock { $0 += 1 } }
        )
        async let step = reader.next()
        await clock.sleepers(atLeast: 1)
        reader.end()
        #expect(await step == .over)
        #expect(await reader.next() == .over)
        reader.end()
        #expect(ended.withLock { $0 } == 1)
    }

    @Test func aStoreThatCannotBeReadEndsIt() async {
        let reader = FeedReader(after: 0, heartbeat: .seconds(15), time: clock) { _, _ throws(StoreError) in
            throw .busy
        }
        #expect(await reader.next() == .over)
    }
}

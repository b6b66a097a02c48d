import Foundation
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// A crash changes when a notification arrives, not whether, and not under which id (promises 1 and 2).
///
/// The database is closed at the point of the crash: nothing after it is written.
@Suite struct CrashTests {
    @Test func betweenTheCommitAndTheClaim() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(3)
            try await bench.restart()
            #expect(await bench.dispatch().delivered == 3)
            #expect(bench["first"].seen.map(\.count) == [3])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func betweenTheClaimAndTheSinkCall() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, store) = (bench["first"], bench.agent.store)
            let arrived = Mutex<[OutgoingNotification]>([])
            // The call was made, but the process died before anything left it.
            sink.before { _ in await store.close() }
            await bench.fetch(3)
            let claimed = await bench.dispatch()
            #expect(claimed.made == 1)
            #expect(claimed.delivered == 0)

            try await bench.restart()
            #expect(try await bench.counts() == [.claimed: 3])
            sink.before { notification in arrived.withLock { $0.append(notification) } }
            let pass = await bench.dispatch()
            #expect(pass.made == 0)
            #expect(pass.delivered == 3)
            #expect(arrived.withLock { $0.map(\.id) } == [sink.seen[0].id])
            #expect(arrived.withLock { $0.map(\.payload) } == [sink.seen[0].payload])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func betweenTheSinkCallAndItsRecord() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, store) = (bench["first"], bench.agent.store)
            let path = bench.folder.path("notifications.jsonl")
            let file = FileSink(name: "file", path: path)
            sink.before { notification in
                _ = await file.deliver(notification)
                await store.close()
            }
            let ids = await bench.fetch(3)
            #expect(await bench.dispatch().delivered == 0)

            try await bench.restart()
            let fileAgain = FileSink(name: "file", path: path)
            sink.before { _ = await fileAgain.deliver($0) }
            #expect(await bench.dispatch().delivered == 3)
            #expect(Set(sink.seen.map(\.id)).count == 1)
            #expect(sink.seen.count == 2)
            #expect(sink.seen[0].payload == sink.seen[1].payload)
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 1)
            #expect(ids.allSatisfy { lines[0].contains($0) })
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func twoSinksOfWhichOneWasRecorded() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            let store = bench.agent.store
            bench["second"].script(.down)
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(1))
            bench["second"].before { _ in await store.close() }
            await bench.dispatch()

            try await bench.restart()
            bench["second"].before(nil)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench["first"].seen.count == 1)
            #expect(bench["second"].seen.count == 3)
            #expect(Set(bench["second"].seen.map(\.id)).count == 1)
        }
    }

    @Test func theFetchedRowsComeOnceAfterACrashInTheMiddleOfEverything() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            var ids = await bench.fetch(5)
            for _ in 0..<3 {
                let store = bench.agent.store
                bench["first"].before { _ in await store.close() }
                await bench.dispatch()
                try await bench.restart()
                bench["first"].before(nil)
                ids += await bench.fetch(2)
            }
            while await bench.dispatch().made > 0 {}
            #expect(try await bench.rows().map(\.jwtID).sorted() == ids.sorted())
            #expect(try await bench.counts() == [.delivered: 11])
            // One notification a group, however often it was tried.
            let notifications = Dictionary(grouping: bench["first"].seen, by: \.id)
            #expect(notifications.values.allSatisfy { tries in tries.allSatisfy { $0.payload == tries[0].payload } })
            #expect(notifications.values.map { $0[0].count }.reduce(0, +) == 11)
            #expect(try await bench.imbalance() == 0)
        }
    }
}

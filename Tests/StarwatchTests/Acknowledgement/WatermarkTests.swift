import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// The watermark tells the truth (promise 3).
@Suite(.timeLimit(.minutes(5))) struct WatermarkTests {
    @Test func itMovesOnlyWithTheAcknowledgementAndEndsAtTheLastID() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(3)
            #expect(try await bench.watermark() == nil)
            await bench.dispatch()
            #expect(try await bench.watermark() == nil)
            await bench.acknowledge()
            let last = bench.mock.publishedIDs.last
            #expect(try await bench.watermark() == last)
            #expect(await bench.sample(#"starwatch_watermark_advances_total{poll="starred_projects"}"#) == "1")
            // Nothing new: it stays, and nothing is counted.
            await bench.poll()
            await bench.dispatch()
            #expect(await bench.acknowledge().watermarkMoved == false)
            #expect(try await bench.watermark() == last)
        }
    }

    @Test func itNeverPassesAnOpenRowAndDeadRowsLetItPass() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let refused = await bench.fetch(1)
            bench["first"].script(.refused)
            await bench.dispatch()
            // Delivered before the older one, which waits for its next try.
            let delivered = await bench.deliver(1)
            #expect(await bench.acknowledge().acknowledged == 1)
            #expect(bench.mock.acknowledgedIDs == delivered)
            #expect(try await bench.watermark() == nil)

            bench["first"].script(.refused, .refused)
            for wait in [1, 2] {
                bench.clock.advance(by: .seconds(wait))
                await bench.dispatch()
            }
            #expect(try await bench.rows(.dead).map(\.jwtID) == refused)
            #expect(await bench.acknowledge().watermarkMoved)
            #expect(try await bench.watermark() == delivered.last)

            // Retried and delivered later, it does not fall.
            _ = try await bench.agent.perform(
                ControlAPI.retryOutbox,
                RowSelection(ids: try await bench.rows(.dead).map(\.id))
            )
            await bench.dispatch()
            #expect(await bench.acknowledge().acknowledged == 1)
            #expect(try await bench.watermark() == delivered.last)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func itStopsBeforeAFirstBatchThatTheServerDidNotTake() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.acknowledge.batchSize = 2 }) {
            bench async throws in
            let ids = await bench.deliver(6)
            bench.mock.script(.delay(.zero), .status(500), at: .acknowledge)
            let pass = await bench.acknowledge()
            #expect(pass.acknowledged == 2)
            #expect(try await bench.watermark() == ids[1])
            bench.clock.advance(by: try #require(pass.next) - bench.clock.now)
            await bench.acknowledge()
            #expect(try await bench.watermark() == ids[5])
        }
    }

    @Test func discardingTheRowInItsWayLetsItMove() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["first"].script(.refused)
            let ids = await bench.deliver(2)
            _ = try await bench.agent.perform(
                ControlAPI.discardOutbox,
                DiscardSelection(RowSelection(ids: try await bench.rows(.dead).map(\.id)))
            )
            #expect(await bench.acknowledge().watermarkMoved)
            #expect(try await bench.watermark() == ids.last)
        }
    }
}

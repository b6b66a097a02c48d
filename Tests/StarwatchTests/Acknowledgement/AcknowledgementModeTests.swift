import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Whether the server is told.
@Suite(.timeLimit(.minutes(5))) struct AcknowledgementModeTests {
    @Test(arguments: [true, false])
    func aServerWithoutTheEndpointIsTriedAgainAfterADayOrARestart(isRestart: Bool) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let first = await bench.deliver(2)
            bench.mock.script(.status(404), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(try await bench.watermark() == first.last)
            #expect(bench.mock.requestCount(of: .acknowledge) == 1)
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="local"}"#) == "2")

            bench.clock.advance(by: .seconds(86_399))
            let second = await bench.deliver(3)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(try await bench.watermark() == second.last)
            #expect(bench.mock.requestCount(of: .acknowledge) == 1)

            if isRestart { try await bench.restart() } else { bench.clock.advance(by: .seconds(1)) }
            let third = await bench.deliver(2)
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(bench.mock.acknowledgedIDs == third)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func anAcknowledgementUnderAnyModeShowsThatTheServerHasTheEndpoint() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            try await bench.restart { $0.acknowledge.mode = .server }
            await bench.deliver(1)
            #expect(await bench.acknowledge().acknowledged == 1)
            try await bench.restart()
            await bench.deliver(2)
            bench.mock.script(.status(404), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 0)
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="local"}"#) == "0")
        }
    }

    @Test func aServerThatHasAcknowledgedKeepsItsEndpointOverOneNotFound() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(2)
            #expect(await bench.acknowledge().acknowledged == 2)
            let ids = await bench.deliver(3)
            bench.mock.script(.status(404), at: .acknowledge)
            let pass = await bench.acknowledge()
            #expect(pass.acknowledged == 0)
            bench.clock.advance(by: try #require(pass.next) - bench.clock.now)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(bench.mock.acknowledgedIDs.suffix(3) == ids[...])
        }
    }

    @Test func theEndorserDialectAcknowledgesLocally() async throws {
        try await Bench.run(
            sinks: ["first"],
            server: { $0.dialect = .endorser },
            configure: { options, _, _ in options.server.dialect = .auto }
        ) { bench async throws in
            let ids = await bench.deliver(3)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(bench.mock.requestCount(of: .acknowledge) == 0)
            #expect(try await bench.counts() == [.acknowledged: 3])
            #expect(try await bench.watermark() == ids.max())
        }
    }

    @Test func localNeverAsksTheServer() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.acknowledge.mode = .local }) {
            bench async throws in
            let ids = await bench.deliver(3)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(bench.mock.requestCount(of: .acknowledge) == 0)
            #expect(try await bench.watermark() == ids.last)
        }
    }

    @Test func serverNeverActsWithoutItsWord() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.acknowledge.mode = .server }) {
            bench async throws in
            let ids = await bench.deliver(3)
            bench.mock.script(.status(404), at: .acknowledge)
            let pass = await bench.acknowledge()
            #expect(pass.acknowledged == 0)
            #expect(try await bench.counts() == [.delivered: 3])
            #expect(try await bench.watermark() == nil)
            bench.clock.advance(by: try #require(pass.next) - bench.clock.now)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(bench.mock.acknowledgedIDs == ids)
        }
    }
}

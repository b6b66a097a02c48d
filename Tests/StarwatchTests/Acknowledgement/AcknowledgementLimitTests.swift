import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Never more acknowledged ids in a minute than allowed (promise 7).
@Suite(.timeLimit(.minutes(5))) struct AcknowledgementLimitTests {
    @Test func manyRowsAreSpreadOverMinutes() async throws {
        try await Bench.run(
            sinks: ["first"],
            server: { $0.acknowledgementsPerMinute = 50 },
            configure: { options, _, _ in
                options.limits.acknowledgementsPerMinute = 50
                options.acknowledge.batchSize = 20
            }
        ) { bench async throws in
            let ids = await bench.deliver(120)
            let (acknowledger, clock) = (bench.agent.runtime.acknowledger, bench.clock)
            async let pass = acknowledger.pass()
            // 40, 40 and 40: a third batch of 20 never fits the minute.
            for _ in 0..<2 {
                await clock.sleepers(atLeast: 1)
                clock.advance(by: try #require(clock.nextWake) - clock.now)
            }
            #expect(await pass.acknowledged == 120)
            let requests = try bench.mock.acknowledgements()
            #expect(requests.map(\.ids.count) == [20, 20, 20, 20, 20, 20])
            for request in requests {
                let within = requests.filter {
                    (0..<60).contains($0.receivedAt.timeIntervalSince(request.receivedAt))
                }
                #expect(within.map(\.ids.count).reduce(0, +) <= 50)
            }
            // The server never had to refuse.
            #expect(
                await bench.sample(#"starwatch_api_requests_total{endpoint="acknowledge",result="rate_limited"}"#)
                    == "0"
            )
            #expect(bench.mock.acknowledgedIDs == ids)
            // They were published while they were fetched, on two pages: others may have been between them.
            await bench.poll()
            _ = await acknowledger.pass()
            #expect(try await bench.watermark() == ids.last)
        }
    }

    @Test func aBatchIsNoLargerThanAMinuteAllows() async throws {
        try await Bench.run(
            sinks: ["first"],
            server: { $0.acknowledgementsPerMinute = 10 },
            configure: { options, _, _ in options.limits.acknowledgementsPerMinute = 10 }
        ) { bench async throws in
            await bench.deliver(10)
            #expect(await bench.acknowledge().acknowledged == 10)
            #expect(try bench.mock.acknowledgements().map(\.ids.count) == [10])
        }
    }

    @Test func aBatchOfALargerLimitIsMadeSmaller() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(10)
            bench.mock.setStickyFault(.status(503), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 0)
            bench.mock.setStickyFault(nil, at: .acknowledge)
            try await bench.restart { $0.limits.acknowledgementsPerMinute = 3 }
            let (acknowledger, clock) = (bench.agent.runtime.acknowledger, bench.clock)
            clock.advance(by: .seconds(600))
            async let pass = acknowledger.pass()
            for _ in 0..<3 {
                await clock.sleepers(atLeast: 1)
                clock.advance(by: try #require(clock.nextWake) - clock.now)
            }
            #expect(await pass.acknowledged == 10)
            #expect(try bench.mock.acknowledgements().map(\.ids.count) == [10, 2, 3, 3, 2])
        }
    }
}

import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Contents and batches of acknowledgements (semantics: outbox, acknowledge).
@Suite(.timeLimit(.minutes(5))) struct AcknowledgementTests {
    @Test func batchesAreNoLargerThanConfiguredAndHaveAKeyEach() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.acknowledge.batchSize = 40 }) {
            bench async throws in
            let ids = await bench.deliver(100)
            let pass = await bench.acknowledge()
            #expect(pass.acknowledged == 100)
            #expect(pass.watermarkMoved)

            let requests = try bench.mock.acknowledgements()
            #expect(requests.map(\.ids.count) == [40, 40, 20])
            #expect(requests.flatMap(\.ids) == ids)
            #expect(Set(requests.map(\.key)).count == 3)
            #expect(!requests.contains { $0.key == nil })
            #expect(bench.mock.acknowledgedIDs == ids)
            #expect(try await bench.counts() == [.acknowledged: 100])
            #expect(try await bench.watermark() == ids.last)
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="ok"}"#) == "100")
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func nothingIsAcknowledgedBeforeItIsDelivered() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            bench["first"].script(.down)
            await bench.deliver(2)
            #expect(await bench.acknowledge().acknowledged == 0)
            #expect(bench.mock.requestCount(of: .acknowledge) == 0)
            #expect(try await bench.watermark() == nil)
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            #expect(await bench.acknowledge().acknowledged == 2)
        }
    }

    @Test func deadAndDiscardedRowsAreNeverAcknowledged() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["first"].script(.refused, .refused)
            await bench.deliver(1)
            await bench.deliver(1)
            let dead = try await bench.rows(.dead).map(\.id)
            #expect(dead.count == 2)
            _ = try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: [dead[0]])))
            let ids = await bench.deliver(1)
            #expect(await bench.acknowledge().acknowledged == 1)
            #expect(bench.mock.acknowledgedIDs == ids)
        }
    }

    @Test func suppressedRowsAreAcknowledged() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let plans = bench.mock.planIDs
            let ids = bench.mock.publish([MockChange(planID: plans[0]), MockChange(planID: plans[1])])
            await bench.poll()
            _ = try await bench.agent.changeStars(StarsChange(operation: .remove, planIDs: [plans[0]]))
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.count) == [1])
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(bench.mock.acknowledgedIDs.sorted() == ids.sorted())
            #expect(try await bench.watermark() == ids.last)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func alreadyAcknowledgedIsCountedSeparately() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(3)
            let body = #"{"acknowledged":1,"failed":0,"alreadyAcknowledged":2}"#
            bench.mock.script(.status(200, body: body), at: .acknowledge)
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="ok"}"#) == "1")
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="already"}"#) == "2")
        }
    }

    @Test func everyTryHasATokenOfItsOwn() async throws {
        let secret = "a secret of at least thirty-two bytes"
        try await Bench.run(
            sinks: ["first"],
            server: { $0.auth = .sharedSecret(Array(secret.utf8)) },
            configure: { options, _, folder in
                options.auth.kind = .sharedSecret
                options.auth.secretFile = try folder.write(secret, to: "secret")
                options.acknowledge.batchSize = 2
            }
        ) { bench async throws in
            let ids = await bench.deliver(6)
            bench.mock.script(.status(500), at: .acknowledge)
            let first = await bench.acknowledge()
            bench.clock.advance(by: try #require(first.next) - bench.clock.now)
            #expect(await bench.acknowledge().acknowledged == 6)
            let tokens = try bench.mock.acknowledgements().map(\.authorization)
            #expect(tokens.count == 4)
            #expect(Set(tokens).count == 4)
            #expect(!tokens.contains(nil))
            #expect(bench.mock.acknowledgedIDs == ids)
        }
    }
}

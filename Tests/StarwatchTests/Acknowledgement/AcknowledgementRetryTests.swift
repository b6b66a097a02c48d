import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// An acknowledgement that failed comes again under its key, and is applied once (promise 2).
@Suite(.timeLimit(.minutes(5))) struct AcknowledgementRetryTests {
    @Test func oneThatWasAppliedAndNotAnsweredIsAppliedOnce() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(3)
            // Twice: libcurl itself repeats a request whose reused connection died.
            bench.mock.script(.commitThenReset, .commitThenReset, at: .acknowledge)
            let first = await bench.acknowledge()
            #expect(first.acknowledged == 0)
            #expect(!first.watermarkMoved)
            #expect(try await bench.watermark() == nil)
            #expect(try await bench.counts() == [.delivered: 3])
            bench.clock.advance(by: try #require(first.next) - bench.clock.now)
            var pass = await bench.acknowledge()
            if pass.acknowledged == 0 {
                bench.clock.advance(by: try #require(pass.next) - bench.clock.now)
                pass = await bench.acknowledge()
            }
            #expect(pass.acknowledged == 3)

            let requests = try bench.mock.acknowledgements()
            #expect(requests.count >= 2)
            #expect(Set(requests.map(\.key)).count == 1)
            #expect(Set(requests.map(\.body)).count == 1)
            #expect(bench.mock.appliedAcknowledgements == 1)
            #expect(bench.mock.acknowledgedIDs == ids)
            #expect(try await bench.watermark() == ids.last)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aCrashBetweenTheRequestAndItsRecordIsAppliedOnce() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(3)
            bench.mock.script(.delay(.seconds(3600)), at: .acknowledge)
            let (agent, mock) = (bench.agent, bench.mock)
            async let lost = agent.runtime.acknowledger.pass()
            try await mock.waitForRequests(1, to: .acknowledge)
            #expect(mock.appliedAcknowledgements == 1)
            await agent.store.close()
            try await bench.restart()
            #expect(await lost.acknowledged == 0)
            #expect(try await bench.counts() == [.delivered: 3])
            #expect(try await bench.watermark() == nil)

            bench.clock.advance(by: .seconds(90))
            #expect(await bench.acknowledge().acknowledged == 3)
            let requests = try bench.mock.acknowledgements()
            #expect(requests.count == 2)
            #expect(requests[0].key == requests[1].key)
            #expect(requests[0].body == requests[1].body)
            #expect(bench.mock.appliedAcknowledgements == 1)
            #expect(bench.mock.acknowledgedIDs == ids)
            #expect(try await bench.watermark() == ids.last)
        }
    }

    @Test(arguments: [
        #"{"acknowledged":2,"failed":1,"alreadyAcknowledged":0}"#, #"{"acknowledged":3}"#, "[]",
        #"{"acknowledged":1,"failed":0,"alreadyAcknowledged":1}"#,
    ])
    func anAnswerThatIsNotASuccessLeavesTheWholeBatchForLater(_ body: String) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(3)
            bench.mock.script(.status(200, body: body), at: .acknowledge)
            let first = await bench.acknowledge()
            #expect(first.acknowledged == 0)
            #expect(try await bench.counts() == [.delivered: 3])
            #expect(try await bench.watermark() == nil)
            #expect(first.next == bench.clock.now + .seconds(1))
            // Not before its time.
            #expect(await bench.acknowledge().acknowledged == 0)
            #expect(bench.mock.requestCount(of: .acknowledge) == 1)

            bench.clock.advance(by: .seconds(1))
            #expect(await bench.acknowledge().acknowledged == 3)
            let requests = try bench.mock.acknowledgements()
            #expect(requests.map(\.ids) == [ids, ids])
            #expect(requests[0].key == requests[1].key)
        }
    }

    @Test(arguments: [400, 403, 500])
    func theWaitDoublesToAMinuteUnderOneKey(_ status: Int) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(1)
            bench.mock.setStickyFault(.status(status), at: .acknowledge)
            var waits: [Double] = []
            for _ in 0..<8 {
                let next = try #require(await bench.acknowledge().next)
                waits.append((next - bench.clock.now).inSeconds)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
            let requests = try bench.mock.acknowledgements()
            #expect(requests.count == 8)
            #expect(Set(requests.map(\.key)).count == 1)
            #expect(Set(requests.map(\.body)).count == 1)
            // A refusal is a failure, a server that is down a retry; neither is both.
            let (counted, other) = status == 500 ? ("retried", "failed") : ("failed", "retried")
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="\#(counted)"}"#) == "8")
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="\#(other)"}"#) == "0")
            bench.mock.clearFaults()
            #expect(await bench.acknowledge().acknowledged == 1)
        }
    }

    /// The server can have taken the batch each time.
    @Test(arguments: ["<html>", "", "[]", "{}", #"{"acknowledged":4,"fai"#])
    func answersThatSayNothingKeepTheBatchAndItsKey(_ body: String) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(4)
            bench.mock.setStickyFault(.status(200, body: body), at: .acknowledge)
            for count in 1...8 {
                let next = try #require(await bench.acknowledge().next)
                #expect(bench.agent.runtime.acknowledger.failedPasses == count)
                // A pass before the next attempt does not count.
                await bench.acknowledge()
                #expect(bench.agent.runtime.acknowledger.failedPasses == count)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="failed"}"#) == "0")
            #expect(await bench.sample(#"starwatch_acknowledgements_total{result="retried"}"#) == "32")
            // After a restart too.
            try await bench.restart()
            bench.clock.advance(by: .seconds(60))
            await bench.acknowledge()
            #expect(bench.agent.runtime.acknowledger.failedPasses == 9)
            bench.clock.advance(by: .seconds(75))
            bench.mock.clearFaults()
            #expect(await bench.acknowledge().acknowledged == 4)
            #expect(bench.agent.runtime.acknowledger.failedPasses == 0)
            let requests = try bench.mock.acknowledgements()
            #expect(requests.count == 10 && requests.allSatisfy { $0.ids == ids })
            #expect(Set(requests.map(\.key)).count == 1)
            #expect(Set(requests.map(\.body)).count == 1)
        }
    }

    /// Otherwise changes could stay unacknowledged for ever while the agent is healthy, with a warning each second.
    @Test func aPassWithoutATokenHasFailed() async throws {
        let secret = String(repeating: "s", count: 32)
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, folder in
                options.auth.kind = .sharedSecret
                options.auth.secretFile = try folder.write(secret, to: "secret")
            }
        ) { bench in
            await bench.deliver(4)
            try FileManager.default.removeItem(atPath: bench.folder.path("secret"))
            // The token has ended.
            bench.clock.advance(by: .seconds(2 * 3600))
            var waits: [Double] = []
            for count in 1...7 {
                let next = try #require(await bench.acknowledge().next)
                #expect(bench.agent.runtime.acknowledger.failedPasses == count)
                waits.append((next - bench.clock.now).inSeconds.rounded())
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(waits == [1, 2, 4, 8, 16, 30, 30])
            let status = await bench.agent.topics.status.status()
            let problem = status.problems?.first { $0.problem == "acknowledgements_failing" }
            #expect(problem?.reason == "no_token")
            #expect(problem?.title.hasPrefix("Acknowledgements fail: the token or secret file") == true)
            _ = try bench.folder.write(secret, to: "secret")
            bench.clock.advance(by: .seconds(60))
            #expect(await bench.acknowledge().acknowledged == 4)
            #expect(bench.agent.runtime.acknowledger.failedPasses == 0)
        }
    }

    @Test func aWaitIsNoFailedPass() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(1)
            let acknowledger = bench.agent.runtime.acknowledger
            bench.mock.script(.status(500), .rateLimited(retryAfter: .seconds(30)), at: .acknowledge)
            let next = try #require(await bench.acknowledge().next)
            #expect(acknowledger.failedPasses == 1)
            bench.clock.advance(by: next - bench.clock.now)
            await bench.acknowledge()
            #expect(acknowledger.failedPasses == 1)
            bench.clock.advance(by: .seconds(60))
            #expect(await bench.acknowledge().acknowledged == 1)
            #expect(acknowledger.failedPasses == 0)
        }
    }

    /// A former version said another `clientVersion` under the key that is stored.
    @Test func aKeyThatTheServerKnowsWithAnotherBodyIsReplaced() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(3)
            bench.mock.script(.status(409), at: .acknowledge)
            let next = try #require(await bench.acknowledge().next)
            bench.clock.advance(by: next - bench.clock.now)
            #expect(await bench.acknowledge().acknowledged == 3)
            let requests = try bench.mock.acknowledgements()
            #expect(requests.map(\.ids) == [ids, ids])
            #expect(requests[0].key != requests[1].key)
        }
    }

    @Test func theServersRetryAfterIsWaitedForAndHoldsEveryRequest() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(2)
            bench.mock.script(.rateLimited(retryAfter: .seconds(30)), at: .acknowledge)
            let first = await bench.acknowledge()
            let next = try #require(first.next)
            #expect(next >= bench.clock.now + .seconds(30))
            #expect(next <= bench.clock.now + .seconds(33))
            bench.clock.advance(by: .seconds(29))
            await bench.acknowledge()
            #expect(bench.mock.requestCount(of: .acknowledge) == 1)
            let polls = bench.mock.requestCount(of: .plansChanged)
            #expect(await bench.poll().skip == .throttled)
            #expect(bench.mock.requestCount(of: .plansChanged) == polls)
            bench.clock.advance(by: .seconds(4))
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(Set(try bench.mock.acknowledgements().map(\.key)).count == 1)
        }
    }

    @Test func oneIdentifierThatTheServerDoesNotTakeDoesNotHoldTheOthersForEver() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.deliver(4)
            for count in [4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1] {
                let body = #"{"acknowledged":\#(count - 1),"failed":1,"alreadyAcknowledged":0}"#
                bench.mock.script(.status(200, body: body), at: .acknowledge)
            }
            var passes = 0
            while try await bench.watermark() != ids.last, passes < 20 {
                if let next = await bench.acknowledge().next { bench.clock.advance(by: next - bench.clock.now) }
                passes += 1
            }
            let requests = try bench.mock.acknowledgements()
            #expect(requests.map(\.ids.count) == [4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 3])
            // One key for each body.
            #expect(Set(requests.map(\.key)).count == 4)
            #expect(requests.last?.ids == Array(ids[1...]))
            #expect(try await bench.watermark() == ids.last)
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// Network failures are not rejections by the server.
    @Test func onlyRefusalsCountTowardsGivingUp() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(1)
            for _ in 0..<8 { bench.mock.script(.status(500), at: .acknowledge) }
            let refusal = #"{"acknowledged":0,"failed":1,"alreadyAcknowledged":0}"#
            for _ in 0..<5 { bench.mock.script(.status(200, body: refusal), at: .acknowledge) }
            for _ in 0..<12 {
                let next = try #require(await bench.acknowledge().next)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(bench.mock.requestCount(of: .acknowledge) == 12)
            #expect(try await bench.counts() == [.delivered: 1])
            #expect(try await bench.watermark() == nil)
            await bench.acknowledge()
            #expect(try await bench.watermark() != nil)
        }
    }

    @Test func aBatchIsNotHalvedForABrokenWay() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(4)
            bench.mock.script(.status(500), .status(500), .status(500), .status(400), at: .acknowledge)
            for _ in 0..<4 {
                let next = try #require(await bench.acknowledge().next)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(await bench.acknowledge().acknowledged == 4)
            #expect(Set(try bench.mock.acknowledgements().map(\.key)).count == 1)
        }
    }
}

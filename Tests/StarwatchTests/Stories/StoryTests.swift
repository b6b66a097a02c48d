import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// `explain`: the life of a change from the server to the watermark.
@Suite struct StoryTests {
    @Test func aChangeThroughAFailingSinkHasEveryAnswerAndSaysWhatItWaitsFor() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench["hook"].script(.refused, .refused)
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            let waiting = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(waiting.state == "claimed")
            #expect(waiting.runID == "run_of_the_test")
            try #require(waiting.steps.map(\.step) == [.changed, .fetched, .stored, .claimed, .attempt])
            try #require(waiting.waits.map(\.reason) == [.rejected])
            #expect(waiting.waits[0].sink == "hook")
            #expect(waiting.waits[0].until == (bench.clock.now + .seconds(1)).iso8601)
            #expect(waiting.steps[4].sentence == "The sink refused the notification.")

            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            bench.clock.advance(by: .seconds(2))
            await bench.dispatch()
            let delivered = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(delivered.state == "delivered")
            #expect(delivered.waits.map(\.reason) == [.acknowledgement])
            await bench.acknowledge()

            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.state == "acknowledged")
            #expect(story.waits == [])
            try #require(
                story.steps.map(\.step) == [
                    .changed, .fetched, .stored, .claimed, .attempt, .attempt, .attempt, .delivered, .acknowledged,
                    .watermark,
                ]
            )
            let attempts = story.steps.filter { $0.step == .attempt }
            #expect(attempts.map(\.result) == ["rejected", "rejected", "ok"])
            #expect(attempts.map(\.attempt) == [1, 2, 3])
            #expect(attempts.map(\.afterMilliseconds) == [0, 1000, 2000])
            let asked = bench.mock.requests(to: .plansChanged)
            #expect(story.steps[1].requestID == asked.first?.header("X-Request-ID"))
            #expect(story.steps[1].page == 1)
            let acknowledged = bench.mock.requests(to: .acknowledge).last
            #expect(story.steps[8].requestID == acknowledged?.header("X-Request-ID"))
            #expect(story.steps[8].requestID != nil)
        }
    }

    /// The clock is set right after the life, or in the middle of it.
    @Test(arguments: [false, true])
    func aLifeByAClockThatWasAheadKeepsItsOrderAndSaysSo(isSetRightBetween: Bool) async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let now = bench.clock.now
            let id = bench.mock.publish(count: 1)[0]
            bench.clock.setWall(to: now + .seconds(6 * 3600))
            await bench.poll()
            if isSetRightBetween { bench["hook"].script(.down, .ok) }
            await bench.dispatch()
            if !isSetRightBetween { await bench.acknowledge() }
            bench.clock.setWall(to: now + .seconds(60))
            // The retry waits as long as it would have, and its sink at most a minute.
            for _ in 0..<3 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(90))
            }
            await bench.acknowledge()

            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.waits == [])
            #expect(story.steps.filter { $0.step == .attempt }.map(\.attempt) == (isSetRightBetween ? [1, 2] : [1]))
            let attempts: [Story.Step.Kind] = isSetRightBetween ? [.attempt, .attempt] : [.attempt]
            #expect(
                story.steps.map(\.step) == [.changed, .fetched, .stored, .claimed] + attempts
                    + [.delivered, .acknowledged, .watermark]
            )
            #expect(story.steps[0].clockAhead == nil && story.steps[1...4].allSatisfy { $0.clockAhead == true })
            let watermark = try #require(story.steps.last)
            if isSetRightBetween {
                #expect(story.steps[5...].allSatisfy { $0.clockAhead == nil })
                #expect(watermark.afterMilliseconds == 0)
            } else {
                #expect(watermark.clockAhead == true && watermark.afterMilliseconds == nil)
                #expect(watermark.details == "Its clock was ahead, so the time is wrong.")
            }
        }
    }

    @Test func aStoryIsFoundByEveryNameAndHasNoPersonalData() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            await bench.acknowledge()
            let row = try #require(try await bench.rows().first)
            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.id.wholeMatch(of: /chg_[0-9a-f]{16}/) != nil)
            #expect(try await bench.agent.perform(ControlAPI.explain, story.id) == story)
            #expect(try await bench.agent.perform(ControlAPI.explain, "\(row.id)") == story)
            let notification = try await bench.agent.perform(ControlAPI.explain, try #require(story.notificationID))
            #expect(notification.kind == .notification)
            #expect(notification.rows?.map(\.id) == [story.id])
            #expect(notification.steps.map(\.step) == [.claimed, .attempt, .delivered])
            let run = try await bench.agent.perform(ControlAPI.explain, "run_of_the_test")
            #expect(run.steps.map(\.step) == [.started, .fetched, .finished])
            #expect(run.steps.last?.result == "changed")
            #expect(run.notifications == [notification.id])
            #expect(run.rows?.map(\.row) == [row.id])
            for story in [story, notification, run] {
                let text = String(decoding: try JSONEncoder().encode(story), as: UTF8.self)
                for secret in [Bench.did.rawValue, id, row.plan, try #require(row.name)] {
                    #expect(!text.contains(secret))
                }
                #expect(story.identity?.hasPrefix("did:hash:") == true)
            }
        }
    }

    @Test(arguments: ["chg_0000000000000000", "ntf_1", "run_1", "4711", "nonsense", ""])
    func anUnknownNameIsNotFound(id: String) async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            let error = await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.explain, id)
            }
            #expect(error?.kind == .notFound)
        }
    }

    @Test func aChangeOfAnEarlierOpenRowSaysWhichOneHoldsTheWatermark() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            // The newer notification goes first, because it has failed less often.
            bench["hook"].script(.down, .ok, .down)
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(2))
            let second = await bench.fetch(1)[0]
            await bench.dispatch()
            await bench.acknowledge()
            let story = try await bench.agent.perform(ControlAPI.explain, second)
            #expect(story.state == "acknowledged")
            #expect(story.waits.map(\.reason) == [.watermarkRow])
            #expect(story.waits.map(\.row) == [1])
            let first = try await bench.agent.perform(ControlAPI.explain, "1")
            #expect(first.waits.map(\.reason) == [.sinkBackoff])
            #expect(try await bench.agent.perform(ControlAPI.explain, "run_of_the_test").waits == first.waits)
        }
    }

    @Test func aChangeInAGroupWaitsForItsInterval() async throws {
        try await Bench.run(
            sinks: ["hook"],
            configure: { options, _, _ in options.delivery.groupInterval = .seconds(300) }
        ) {
            bench async throws in
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(100))
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.waits.map(\.reason) == [.groupInterval])
            #expect(story.waits.map(\.until) == [(bench.clock.now + .seconds(200)).iso8601])
        }
    }

    @Test func anAcknowledgementThatTheServerDidNotTakeSaysWhenItIsSentAgain() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench.mock.script(.status(500), at: .acknowledge)
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            let next = try #require(await bench.acknowledge().next)
            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.waits.map(\.reason) == [.ackRetry])
            #expect(story.waits.map(\.until) == [next.iso8601])
        }
    }

    @Test func theNotificationCarriesTheRunThatFoundItsChange() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(2)
            await bench.dispatch()
            #expect(bench["hook"].seen.map(\.runID) == ["run_of_the_test"])
        }
    }

    @Test func aSinkSaysWhyItIsNotTried() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let (slot, now) = (bench.slot("hook"), bench.clock.now)
            #expect(slot.circuit.pause(at: now) == nil)
            _ = slot.change { $0.record(.down, at: now) }
            #expect(slot.circuit.pause(at: now) == ChangeWait(.sinkBackoff, until: now + .seconds(1)))
            for _ in 0..<4 { _ = slot.change { $0.record(.down, at: now) } }
            #expect(slot.circuit.pause(at: now) == ChangeWait(.sinkCircuit, until: now + .seconds(5)))
            let later = SinkResult.unavailable(SinkFailure("Later.", .program), retryAfter: .seconds(60))
            _ = slot.change { $0.record(later, at: now) }
            #expect(slot.circuit.pause(at: now) == ChangeWait(.sinkRetryAfter, until: now + .seconds(60)))
            _ = slot.change { $0.record(.ok, at: now) }
            #expect(slot.circuit.pause(at: now) == nil)
        }
    }

    @Test func anArmedDigestSaysWhenItComes() async throws {
        try await DigestBench.run { bench async throws in
            await bench.arm()
            let did = try #require(try await bench.agent.store.identity.active().did)
            let rows = try await bench.agent.store.digests.state(of: did, since: bench.clock.now - .days(1)).rows
            let armed = try #require(rows.first { $0.row.status == .scheduled && !$0.token.isEmpty })
            let story = try await bench.agent.perform(ControlAPI.explain, armed.token)
            #expect(story.kind == .digest)
            #expect(story.waits.map(\.reason) == [.digest])
            #expect(story.waits.map(\.until) == [armed.row.occurrence.fireAt.iso8601])
        }
    }
}

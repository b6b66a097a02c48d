import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// A story only grows: what a change went through stays in it.
@Suite struct StoryHistoryTests {
    private func story(_ bench: Bench, _ id: String) async throws -> Story {
        try await bench.agent.perform(ControlAPI.explain, id)
    }

    private func retry(_ bench: Bench) async throws {
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed > 0)
        bench.clock.advance(by: .seconds(10))
    }

    @Test func aRetriedDeadLetterKeepsItsAttemptsAndItsDeath() async throws {
        try await Bench.run(sinks: ["hook"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["hook"].script(.refused, .refused)
            let id = await bench.fetch(1)[0]
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            bench.clock.advance(by: .seconds(1))
            await bench.acknowledge()
            try await retry(bench)
            await bench.dispatch()
            try await retry(bench)
            await bench.dispatch()
            await bench.acknowledge()
            let story = try await story(bench, id)
            #expect(story.state == "acknowledged")
            #expect(
                story.steps.map(\.step) == [
                    .changed, .fetched, .stored, .claimed, .attempt, .dead, .watermark,
                    .retried, .claimed, .attempt, .dead, .retried, .claimed, .attempt, .delivered, .acknowledged,
                ]
            )
            #expect(story.steps.map(\.at) == story.steps.map(\.at).sorted())
            let dead = story.steps.filter { $0.step == .dead }
            #expect(dead.map(\.sink) == ["hook", "hook"])
            #expect(dead.map(\.reason) == ["program", "program"])
            #expect(story.steps.filter { $0.step == .attempt }.map(\.result) == ["rejected", "rejected", "ok"])
        }
    }

    @Test func aRetryAtOneSinkKeepsTheAnswersOfAllOfThem() async throws {
        try await Bench.run(sinks: ["first", "second"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["second"].script(.refused)
            let id = await bench.fetch(1)[0]
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            try await retry(bench)
            await bench.dispatch()
            let story = try await story(bench, id)
            let steps: [Story.Step.Kind] = [.claimed, .attempt, .attempt, .dead, .retried, .attempt, .delivered]
            #expect(Array(story.steps.map(\.step).dropFirst(3)) == steps)
            #expect(story.steps.first { $0.step == .dead }?.sink == "second")
            let notification = try await self.story(bench, try #require(story.notificationID))
            #expect(notification.steps.map(\.step) == steps)
        }
    }

    @Test func aSinkThatWasGivenUpStandsThereWithItsReasonEvenAfterARetry() async throws {
        try await Bench.run(
            sinks: ["hook"],
            configure: { options, _, _ in options.delivery.sinks[0].giveUpAfter = .seconds(60) }
        ) { bench async throws in
            bench["hook"].answer(.down)
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            bench.clock.advance(by: .seconds(61))
            await bench.dispatch()
            let given = try await story(bench, id)
            #expect(given.state == "dead")
            let end = given.steps.suffix(2)
            #expect(end.map(\.step) == [.givenUp, .dead])
            #expect(end.map(\.sink) == ["hook", "hook"])
            #expect(end.map(\.reason) == ["program", "program"])
            #expect(end.first?.details == "sink hook, program: The sink was down for too long.")

            bench["hook"].answer(.ok)
            try await retry(bench)
            await bench.dispatch()
            let story = try await story(bench, id)
            #expect(story.steps.starts(with: given.steps))
            #expect(story.steps.dropFirst(given.steps.count).map(\.step) == [.retried, .attempt, .delivered])
        }
    }

    @Test func anEvictedChangeThatReturnsKeepsItsEviction() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let ids = await bench.fetch(10)
            bench.clock.advance(by: .seconds(1))
            let evicted = try await bench.agent.store.outbox.evict(
                .fifo,
                of: Bench.did,
                server: bench.mock.url,
                maxUndelivered: 9,
                now: bench.clock.now
            )
            #expect(evicted == 2)
            #expect(try await story(bench, ids[0]).steps.map(\.step) == [.changed, .fetched, .stored, .evicted])
            bench.clock.advance(by: .seconds(60))
            await bench.poll()
            let story = try await story(bench, ids[0])
            #expect(story.state == "pending")
            #expect(story.steps.map(\.step) == [.changed, .fetched, .stored, .evicted, .fetched, .returned])
        }
    }

    @Test func aDiscardedChangeKeepsItsDeathAndNotTheLaterAttemptsOfItsNotification() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench["hook"].script(.refused)
            let ids = await bench.fetch(2)
            await bench.dispatch()
            let row = try #require(try await bench.rows().first)
            bench.clock.advance(by: .milliseconds(500))
            let discard = DiscardSelection(RowSelection(ids: [row.id]))
            #expect(try await bench.agent.perform(ControlAPI.discardOutbox, discard).changed == 1)
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            let story = try await story(bench, row.jwtID)
            #expect(
                story.steps.map(\.step).dropFirst(3) == [.claimed, .attempt, .discarded, .cancelled]
            )
            #expect(story.steps.last?.reason == "discarded")
            let other = try await self.story(bench, try #require(ids.first { $0 != row.jwtID }))
            #expect(
                other.steps.map(\.step).dropFirst(3) == [.claimed, .attempt, .renewed, .attempt, .delivered]
            )
        }
    }

    @Test func aChangeOfAnIdentityThatReturnsKeepsItsFormerLife() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench["hook"].script(.down)
            let id = await bench.fetch(1)[0]
            bench.clock.advance(by: .seconds(1))
            await bench.dispatch()
            bench.clock.advance(by: .seconds(1))
            try await bench.agent.setIdentity(nil)
            #expect(try await story(bench, id).steps.map(\.step).suffix(3) == [.claimed, .attempt, .cancelled])
            bench.clock.advance(by: .seconds(1))
            try await bench.agent.setIdentity(Bench.did)
            try await bench.agent.changeStars(StarsChange(operation: .set, planIDs: bench.mock.planIDs))
            await bench.poll()
            await bench.dispatch()
            let story = try await story(bench, id)
            #expect(
                story.steps.map(\.step).dropFirst(3).prefix(3) == [.claimed, .attempt, .cancelled]
            )
            #expect(story.steps.last?.step == .delivered)
            #expect(story.steps.map(\.step).contains(.returned))
        }
    }

    @Test func aReasonIsTheSameWordInTextAndJSON() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench["hook"].script(.rejected(SinkFailure("The sink answered 404.", FailureReason(status: 404))))
            let id = await bench.fetch(1)[0]
            await bench.dispatch()
            let step = try #require(try await story(bench, id).steps.last)
            #expect(step.reason == "http_404")
            #expect(step.sentence == "The sink answered 404.")
            #expect(step.details.contains("http_404: The sink answered 404."))
            let row = try #require(try await bench.rows().first)
            let shown = try await bench.agent.perform(ControlAPI.showOutboxRow, row.id)
            #expect(shown.deliveries?.map(\.reason) == [step.reason])
        }
    }
}

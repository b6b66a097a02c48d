import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Rows that an operator discards while their notification waits for a sink.
@Suite struct DiscardTests {
    private func message(_ notification: OutgoingNotification?) throws -> NotificationMessage {
        try #require(NotificationMessage(json: notification?.payload ?? []))
    }

    @Test func aRetryOfAllGivesTheOtherSinkEverythingButTheDiscardedRow() async throws {
        try await Bench.run(
            sinks: ["first", "second"],
            configure: { options, _, _ in options.outbox.maxRetries = 1 }
        ) { bench async throws in
            bench["second"].script(.refused)
            let ids = await bench.fetch(7)
            await bench.dispatch()
            let dead = try await bench.rows(.dead)
            #expect(dead.map(\.jwtID) == ids)
            #expect(
                try await bench.agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(ids: [dead[0].id, dead[3].id]))
                ).changed == 2
            )
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 5)
            await bench.dispatch()

            let rest = ids.enumerated().filter { ![0, 3].contains($0.offset) }.map(\.element)
            let seen = bench["second"].seen
            #expect(seen.count == 2 && seen[0].id == seen[1].id)
            let message = try message(seen.last)
            #expect(message.changes.map(\.jwtID) == rest && message.group == .several)
            #expect(message.body == "You have 5 new updates in your starred projects")
            #expect(message.deepLink.hasSuffix(rest.joined(separator: ",")))
            #expect(bench["first"].seen.count == 1)
            await bench.acknowledge()
            #expect(try await bench.counts() == [.acknowledged: 5, .cancelled: 2])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aGroupThatStaysLargeGetsAShortlinkToTheRest() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            bench["first"].answer(.down)
            let ids = await bench.fetch(12)
            await bench.dispatch()
            #expect(
                try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: [1])))
                    .changed == 1
            )
            bench["first"].answer(.ok)
            bench.clock.advance(by: .seconds(60))
            await bench.dispatch()
            let (before, after) = (try message(bench["first"].seen.first), try message(bench["first"].seen.last))
            #expect(before.id == after.id && before.deepLink != after.deepLink && after.count == 11)
            guard case .shortlink(let link) = try DeepLink(parsing: after.deepLink) else {
                Issue.record("the link is no shortlink")
                return
            }
            let targets = try await bench.agent.store.notifications.shortlink(
                link,
                of: Bench.did,
                now: bench.clock.now
            )?.targets
            #expect(targets?.map(\.jwt.rawValue) == Array(ids.dropFirst()))
        }
    }

    /// Only an attempt that runs already can still name the row.
    @Test func aDiscardedRowNamesItsOperator() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            bench["first"].answer(.down)
            await bench.fetch(2)
            await bench.dispatch()
            let selection = DiscardSelection(RowSelection(ids: [1]))
            _ = try await bench.agent.topics.perform(
                ControlAPI.discardOutbox,
                selection,
                for: Operator(.socket, "anna")
            )
            let row = try await bench.agent.perform(ControlAPI.showOutboxRow, 1)
            #expect(row.state == .cancelled && row.reason == .discarded && row.discardedBy == "socket:anna")
            #expect(try await bench.agent.perform(ControlAPI.showOutboxRow, 2).discardedBy == nil)
            let story = try await bench.agent.perform(ControlAPI.explain, "1")
            #expect(story.steps.contains { $0.sentence == "It was discarded by socket:anna." })
        }
    }

    @Test func workThatAPassHasReadGoesWithoutARowThatIsDiscardedMeanwhile() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.fetch(150)
            let (agent, sink) = (bench.agent, bench["first"])
            sink.before { _ in
                guard sink.seen.count == 1 else { return }
                _ = try? await agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(ids: (101...148).map { Int64($0) }))
                )
            }
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.count) == [100, 2])
            #expect(bench["first"].named == Array(ids.prefix(100)) + Array(ids.suffix(2)))
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aNotificationThatIsDiscardedMeanwhileIsNotSent() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(150)
            let agent = bench.agent
            bench["first"].before { _ in
                _ = try? await agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(ids: (101...150).map { Int64($0) }))
                ).changed
            }
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.count) == [100])
            #expect(try await bench.agent.store.status.ledger(bench.stream).cancelled == 50)
            #expect(try await bench.agent.store.status.snapshot([bench.stream]).rows[.delivered] == 100)
            #expect(try await bench.imbalance() == 0)
        }
    }
}

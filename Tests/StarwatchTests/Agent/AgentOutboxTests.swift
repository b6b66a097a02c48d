import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Operator actions on outbox rows.
@Suite struct AgentOutboxTests {
    /// A bench with dead rows and after them delivered ones.
    private func withRows(
        dead: Int,
        delivered: Int,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["first"].script(.refused)
            await bench.fetch(dead)
            #expect(await bench.dispatch().dead == dead)
            await bench.fetch(delivered)
            #expect(await bench.dispatch().delivered == delivered)
            try await body(bench)
        }
    }

    private func error(_ body: () async throws(ControlError) -> Int) async -> ControlError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [true, false])
    func aRowThatIsNotThereOrNotDeadIsAnErrorAndNothingChanges(isRetry: Bool) async throws {
        try await withRows(dead: 2, delivered: 1) { bench async throws in
            let agent = bench.agent
            let dead = try await bench.rows(.dead).map(\.id)
            let delivered = try await bench.rows(.delivered).map(\.id)
            for (ids, kind, words) in [
                (dead + [999], ControlError.Kind.notFound, "no row 999"),
                (dead + delivered, .conflict, "only rows in the state dead"),
            ] {
                let error = await error { () async throws(ControlError) in
                    isRetry
                        ? try await agent.perform(ControlAPI.retryOutbox, RowSelection(ids: ids)).changed
                        : try await agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: ids)))
                            .changed
                }
                #expect(error?.kind == kind)
                #expect(error?.message.contains(words) == true)
            }
            #expect(try await bench.counts() == [.dead: 2, .delivered: 1])
            let operation = isRetry ? "outbox_retry" : "outbox_discard"
            let failed = await bench.sample(
                "starwatch_control_requests_total{operation=\"\(operation)\",result=\"failed\"}"
            )
            #expect(failed == "2")
        }
    }

    @Test func allDeadRowsAreRetriedOrDiscardedAtOnce() async throws {
        try await withRows(dead: 3, delivered: 1) { bench async throws in
            let poll = bench.options.polls[0].name.rawValue
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: poll)).changed == 3)
            #expect(try await bench.counts() == [.pending: 3, .delivered: 1])
            bench["first"].script(.refused)
            #expect(await bench.dispatch().dead == 3)
            #expect(
                try await bench.agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(allOf: nil), in: .dead)
                ).changed == 3
            )
            #expect(try await bench.counts() == [.cancelled: 3, .delivered: 1])
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 0)
            let agent = bench.agent
            let error = await error { () async throws(ControlError) in
                try await agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(allOf: "nobody"), in: .dead)
                ).changed
            }
            #expect(error?.kind == .notFound)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aRowOfAnotherIdentityIsNotRetried() async throws {
        try await withRows(dead: 1, delivered: 0) { bench async throws in
            let agent = bench.agent
            let dead = try await bench.rows(.dead).map(\.id)
            _ = try await agent.setIdentity(World.other)
            let error = await error { () async throws(ControlError) in
                try await agent.perform(ControlAPI.retryOutbox, RowSelection(ids: dead)).changed
            }
            #expect(error?.kind == .conflict)
            #expect(try await agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 0)
            #expect(
                try await agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(allOf: nil), in: .dead))
                    .changed == 1
            )
        }
    }

    @Test func theListGoesOnWhereThePageBeforeEnded() async throws {
        try await withRows(dead: 2, delivered: 3) { bench async throws in
            let all = try await bench.agent.outboxList(OutboxQuery()).map(\.id)
            #expect(all == all.sorted(by: >))
            #expect(all.count == 5)
            var found: [Int64] = []
            var query = OutboxQuery()
            query.limit = 2
            query.poll = bench.options.polls[0].name.rawValue
            while true {
                let page = try await bench.agent.outboxList(query).map(\.id)
                guard let last = page.last else { break }
                #expect(page.count <= 2)
                found += page
                query.before = last
            }
            #expect(found == all)
            query = OutboxQuery()
            query.state = "dead"
            #expect(try await bench.agent.outboxList(query).count == 2)
            for wrong in [0, OutboxEntry.listLimit + 1] {
                query.limit = wrong
                await #expect(throws: ControlError.self) { try await bench.agent.outboxList(query) }
            }
            query = OutboxQuery()
            query.poll = "nobody"
            await #expect(throws: ControlError.self) { try await bench.agent.outboxList(query) }
        }
    }

    @Test func aRowIsShownWithWhatEverySinkSaid() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].answer(.down)
            await bench.fetch(1)
            await bench.dispatch()
            let row = try #require(try await bench.rows().first)
            #expect(row.deliveries == nil)
            let deliveries = try #require(try await bench.agent.perform(ControlAPI.showOutboxRow, row.id).deliveries)
            #expect(deliveries.map(\.sink) == ["first", "second"])
            #expect(deliveries.map(\.state) == ["ok", "pending"])
            #expect(deliveries.map(\.attempts) == [1, 1])
            #expect(deliveries[0].nextAttemptAt == nil)
            #expect(deliveries[1].nextAttemptAt == (bench.clock.now + .seconds(1)).iso8601)
        }
    }
}

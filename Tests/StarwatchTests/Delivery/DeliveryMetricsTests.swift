import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Metrics of deliveries.
@Suite struct DeliveryMetricsTests {
    @Test func aDeliveryIsCountedAndTimedFromTheChange() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(3)
            bench.clock.advance(by: .seconds(20))
            await bench.dispatch()

            let poll = #"{poll="starred_projects"}"#
            #expect(await bench.sample("starwatch_freshness_seconds_count" + poll) == "3")
            #expect(await bench.sample("starwatch_freshness_seconds_sum" + poll) == "60")
            #expect(await bench.sample(#"starwatch_delivery_attempts_total{sink="first",result="ok"}"#) == "1")
            #expect(await bench.sample(#"starwatch_delivery_seconds_count{sink="first"}"#) == "1")
            let series = #"starwatch_notifications_total{poll="starred_projects",group="several"}"#
            #expect(await bench.sample(series) == "1")
            for change in ["inserted", "claimed", "delivered"] {
                #expect(await bench.sample(#"starwatch_outbox_changes_total{change="\#(change)"}"#) == "3")
            }
            #expect(await bench.sample("starred_projects_notifications_generated_total") == "1")
            #expect(await bench.sample(#"starwatch_outbox_rows{state="delivered"}"#) == "3")
            #expect(await bench.sample(#"starwatch_outbox_rows{state="pending"}"#) == "0")
        }
    }

    @Test func everyResultOfASinkHasItsCounter() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            bench["first"].script(.refused, .down, .timeout, .ok)
            await bench.fetch(1)
            for _ in 0..<4 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(10))
            }
            for result in [SinkAttemptResult.rejected, .unavailable, .timeout, .ok] {
                #expect(bench.attempts("first", result) == 1)
            }
        }
    }

    @Test func aRowWhoseSinkIsDownStaysDueSinceItsFirstAttempt() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let pending = "starwatch_outbox_oldest_pending_timestamp_seconds"
            let due = "starwatch_outbox_oldest_due_timestamp_seconds"
            bench["first"].answer(.down)
            await bench.fetch(2)
            #expect(await bench.sample(pending) != "0")
            #expect(await bench.sample(due) != "0")
            await bench.dispatch()
            let since = await bench.sample(due)
            #expect(await bench.sample(pending) != "0")
            #expect(since != "0")
            for _ in 0..<8 {
                bench.clock.advance(by: .seconds(60))
                await bench.dispatch()
            }
            #expect(await bench.sample(due) == since)
            bench["first"].answer(.ok)
            bench.clock.advance(by: .seconds(600))
            await bench.dispatch()
            #expect(await bench.sample(due) == "0")
            for law in ["fetched", "new"] {
                #expect(await bench.sample(#"starwatch_ledger_imbalance_rows{law="\#(law)"}"#) == "0")
            }
        }
    }

    @Test func booksThatAreOutOfBalanceAreShownWithByHowMuch() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let file = DatabaseOnDisk(path: bench.folder.path("starwatch.db"))
            let ofThePoll = "stream_id IN (SELECT id FROM streams WHERE poll = 'starred_projects')"
            let gauge = "starwatch_ledger_imbalance_rows"
            await bench.fetch(3)
            #expect(await bench.dispatch().delivered == 3)
            #expect(await bench.agent.state().outbox.ledgerImbalance == 0)

            try file.execute(
                "UPDATE ledger SET duplicate = duplicate + 2, delivered = delivered + 5 WHERE \(ofThePoll)"
            )
            // Another program's write becomes visible after the agent's next write.
            await bench.fetch(1)
            let wrong = await bench.agent.page()
            #expect(wrong[gauge, ["law": "fetched"]] == 2)
            #expect(wrong[gauge, ["law": "new"]] == 5)
            let status = await bench.agent.state()
            #expect(status.outbox.ledgerImbalance == 7)
            #expect(status.reasons.contains("ledger_imbalance"))

            try file.execute(
                "UPDATE ledger SET duplicate = duplicate - 2, delivered = delivered - 5 WHERE \(ofThePoll)"
            )
            await bench.fetch(1)
            let right = await bench.agent.page()
            #expect(right[gauge, ["law": "fetched"]] == 0)
            #expect(right[gauge, ["law": "new"]] == 0)
            #expect(await bench.agent.state().reasons.contains("ledger_imbalance") == false)
        }
    }

    @Test func theOldestDeadRowIsShownWithTheTimeAtWhichItDied() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            let gauge = "starwatch_outbox_oldest_dead_timestamp_seconds"
            bench["first"].answer(.refused)
            #expect(await bench.agent.page()[gauge] == 0)
            for _ in 0..<2 {
                await bench.fetch(1)
                bench.clock.advance(by: .seconds(20))
                #expect(await bench.dispatch().dead == 1)
            }
            let start = ManualClock.start.seconds
            #expect(await bench.agent.page()[gauge] == start + 20)
            let dead = try await bench.rows(.dead).map(\.id)
            try #require(dead.count == 2)
            #expect(
                try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: [dead[0]])))
                    .changed == 1
            )
            #expect(await bench.agent.page()[gauge] == start + 40)
            #expect(
                try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: [dead[1]])))
                    .changed == 1
            )
            #expect(await bench.agent.page()[gauge] == 0)
        }
    }
}

import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// What a delivery leaves in the metrics.
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

    @Test func aRowThatWaitsForASinkIsPendingButNotDueAndTheBooksBalance() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let pending = "starwatch_outbox_oldest_pending_timestamp_seconds"
            let due = "starwatch_outbox_oldest_due_timestamp_seconds"
            bench["first"].answer(.down)
            await bench.fetch(2)
            #expect(await bench.sample(pending) != "0")
            #expect(await bench.sample(due) != "0")
            await bench.dispatch()
            #expect(await bench.sample(pending) != "0")
            #expect(await bench.sample(due) == "0")
            bench.clock.advance(by: .seconds(600))
            #expect(await bench.sample(due) != "0")
            for law in ["fetched", "new"] {
                #expect(await bench.sample(#"starwatch_ledger_imbalance_rows{law="\#(law)"}"#) == "0")
            }
        }
    }
}

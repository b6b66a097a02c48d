import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Sinks with hours that fail.
extension HeldDeliveryTests {
    @Test func whatFailsAllDayIsHeldInTheNextNightAndLateInTheNextMorning() async throws {
        try await run { bench async throws in
            let id = try await spendTheNight(bench)[0]
            bench["phone"].answer(.down)
            let held = #"starwatch_sink_held_rows{sink="phone"}"#
            let oldest = "starwatch_outbox_oldest_due_timestamp_seconds"
            for time in ["2026-01-02T06:00:00Z", "2026-01-02T20:59:00Z"] {
                try go(bench, to: time)
                await bench.dispatch()
                #expect(await bench.sample(held) == "0", "\(time)")
                #expect(await bench.sample(oldest) == "1767333600", "\(time)")
            }
            try go(bench, to: "2026-01-02T22:00:00Z")
            await bench.dispatch()
            let morning = "2026-01-03T06:00:00.000Z"
            #expect(await bench.sample(held) == "5")
            #expect(await bench.sample(oldest) == "0")
            #expect(await bench.agentStatus().outbox.waiting?["phone"]?.heldUntil == morning)
            let row = try #require(try await bench.rows().first)
            #expect(row.heldBy == ["phone"] && row.heldUntil == morning)
            let waits = try await bench.agent.perform(ControlAPI.explain, id).waits
            #expect(waits.map(\.reason) == [.sinkHours] && waits.map(\.until) == [morning])

            try go(bench, to: "2026-01-03T06:00:00Z")
            #expect(await bench.sample(held) == "0")
            // Eight hours of the night, from the retry that was put off, do not count.
            #expect(await bench.sample(oldest) == "1767362400")
            bench["phone"].answer(.ok)
            await bench.dispatch()
            #expect(Set(bench["phone"].seen.map(\.id)).count == 1)
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }
}

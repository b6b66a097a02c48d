import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Sinks with hours that fail, databases that fail, and what agents without hours do not do.
extension HeldDeliveryTests {
    /// Otherwise every agent would pay for the hours of a few.
    @Test func anAgentWithoutHoursLooksForNothingHeld() async throws {
        func reads(hours: SinkHours?) async throws -> Int {
            let accesses = StoreAccesses()
            var count = 0
            try await run(dependencies: accesses.dependencies, change: { $0.delivery.sinks[1].hours = hours }) {
                bench in
                await bench.fetch(1)
                await bench.dispatch()
                accesses.clear()
                await bench.dispatch()
                count = accesses.all.count { $0 == .read }
            }
            return count
        }
        let (without, with) = (try await reads(hours: nil), try await reads(hours: Self.night))
        #expect(without + 1 == with)
    }

    @Test func whatIsHeldIsJoinedAlsoByAnAgentThatHasNoHoursAnyMore() async throws {
        try await run { bench async throws in
            _ = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T06:30:00Z")
            try await bench.restart { $0.delivery.sinks[1].hours = nil }
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(try await bench.counts() == [.delivered: 5])
        }
    }

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

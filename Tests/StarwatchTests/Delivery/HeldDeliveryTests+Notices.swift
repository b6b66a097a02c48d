import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Notices at sinks with hours. The poll succeeds at 18:00Z and is stale after four hours, so that its notice comes up by night.
extension HeldDeliveryTests {
    private func runStale(
        hours: SinkHours? = HeldDeliveryTests.night,
        after success: String = "2026-01-01T18:00:00Z",
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await run(
            change: { options in
                options.delivery.stalenessNotice = true
                options.delivery.sinks[1].hours = hours
                options.polls[0].staleAfter = .seconds(4 * 3600)
            }
        ) { bench async throws in
            try go(bench, to: success)
            await bench.poll()
            try await body(bench)
        }
    }

    private func bodies(_ bench: Bench, _ sink: String) -> [String?] {
        bench[sink].seen.map { NotificationMessage(json: $0.payload)?.body }
    }

    @Test func aNoticeOfTheNightComesInTheMorningWithTheAgeOfThen() async throws {
        try await runStale { bench async throws in
            try go(bench, to: "2026-01-01T23:00:00Z")
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T06:00:00.000Z")
            #expect(bodies(bench, "log") == ["Last updated 5 hours ago. Tap to refresh."])
            #expect(bench["phone"].seen.isEmpty)
            // It is no change, and nothing is late.
            #expect(await bench.sample(#"starwatch_sink_held_rows{sink="phone"}"#) == "0")
            #expect(await bench.sample("starwatch_outbox_oldest_due_timestamp_seconds") == "0")
            let waiting = try #require(await bench.agentStatus().outbox.waiting?["phone"])
            #expect(waiting.notifications == 1 && waiting.held == 0)
            #expect(waiting.heldUntil == "2026-01-02T06:00:00.000Z")
            try await bench.restart()
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)

            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().next == nil)
            #expect(bodies(bench, "phone") == ["Last updated 12 hours ago. Tap to refresh."])
            #expect(bench["phone"].seen.map(\.id) == bench["log"].seen.map(\.id))
            #expect(bench["phone"].seen.map(\.runID) == bench["log"].seen.map(\.runID))
            await bench.dispatch()
            #expect(bench["phone"].seen.count == 1 && bench["log"].seen.count == 1)
        }
    }

    @Test func aNoticeThatIsOverInTheMorningIsDropped() async throws {
        try await runStale { bench async throws in
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.dispatch()
            try go(bench, to: "2026-01-02T05:00:00Z")
            await bench.poll()
            // The pass of the morning is the first one that can know it.
            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().next == nil)
            #expect(bench["phone"].seen.isEmpty)
            #expect(bench["log"].seen.count == 1)
            #expect(try await bench.agent.store.deliveries.waitingSinks(of: Bench.did).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func aNoticeThatIsNoLongerConfiguredIsDroppedAndTakenBack(isOtherPoll: Bool) async throws {
        try await runStale { bench async throws in
            bench["log"].canTakeBack()
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.dispatch()
            try await bench.restart { options in
                guard isOtherPoll else { return options.delivery.stalenessNotice = false }
                var poll = PollOptions(name: PollName("other_projects")!, kind: .starredProjects)
                poll.planIDs = options.polls[0].planIDs
                poll.staleAfter = .seconds(100 * 3600)
                options.polls = [poll]
            }
            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().next == nil)
            #expect(bench["phone"].seen.isEmpty)
            let messages = bench["log"].seen.compactMap { NotificationMessage(json: $0.payload) }
            #expect(messages.map(\.cleared) == [nil, true] && Set(messages.map(\.collapseKey)).count == 1)
            #expect(try await bench.agent.store.deliveries.waitingSinks(of: Bench.did).isEmpty)
        }
    }

    @Test func timesOfTheDayHoldBackNoNotice() async throws {
        try await runStale(hours: Self.morning) { bench async throws in
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.dispatch()
            #expect(bench["phone"].seen.count == 1)
            #expect(bench["phone"].seen == bench["log"].seen)
        }
    }

    @Test func aReloadFromQuietHoursToTimesOfTheDayReleasesTheNotice() async throws {
        try await runStale { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            await bench.fetch(1)
            await bench.dispatch()
            try go(bench, to: "2026-01-02T02:00:00Z")
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T06:00:00.000Z")
            #expect(bench["phone"].seen.isEmpty)
            bench.clock.advance(by: .seconds(60))
            try await bench.restart { $0.delivery.sinks[1].hours = Self.morning }
            // The change waits for the time of the day.
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T07:00:00.000Z")
            #expect(bodies(bench, "phone") == ["Last updated 4 hours ago. Tap to refresh."])
        }
    }

    @Test func whatTakesANoticeBackIsNotHeld() async throws {
        try await runStale(after: "2026-01-01T14:00:00Z") { bench async throws in
            bench["phone"].canTakeBack()
            try go(bench, to: "2026-01-01T20:00:00Z")
            await bench.dispatch()
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.poll()
            await bench.dispatch()
            let messages = bench["phone"].seen.compactMap { NotificationMessage(json: $0.payload) }
            #expect(messages.map(\.cleared) == [nil, true])
        }
    }
}

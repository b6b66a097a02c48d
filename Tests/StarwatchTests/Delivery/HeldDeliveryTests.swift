import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Sinks with hours, on an agent whose clock the test moves. The quiet hours of Zurich are 21:00Z to 06:00Z.
@Suite struct HeldDeliveryTests {
    static let night = QuietHours("22:00-07:00").map { SinkHours.quiet($0) }
    static let morning = SinkHours.deliverAt(["08:00"].compactMap(DayTime.init))

    /// Runs `body` with a sink `log`, and `phone` with quiet hours.
    func run(
        _ sinks: [String] = ["log", "phone"],
        dependencies: AgentDependencies = AgentDependencies(),
        change: @escaping (inout AgentOptions) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run(
            sinks: sinks,
            dependencies: dependencies,
            configure: { options, _, _ in
                for index in options.delivery.sinks.indices where options.delivery.sinks[index].name != "log" {
                    options.delivery.sinks[index].hours = Self.night
                    options.delivery.sinks[index].timezone = "Europe/Zurich"
                }
                change(&options)
            },
            body
        )
    }

    func go(_ bench: Bench, to time: String) throws {
        bench.clock.advance(by: try #require(Timestamp(iso8601: time)) - bench.clock.now)
    }

    /// Changes of the night: two at 21:30, three at 23:00.
    func spendTheNight(_ bench: Bench) async throws -> [String] {
        try go(bench, to: "2026-01-01T21:30:00Z")
        let first = await bench.fetch(2)
        await bench.dispatch()
        try go(bench, to: "2026-01-01T23:00:00Z")
        let second = await bench.fetch(3)
        await bench.dispatch()
        return first + second
    }

    @Test func quietHoursAreTheFirstLineOfTheStatusWhileTheWatermarkOrThePollsWait() async throws {
        try await run(change: { $0.outbox.maxUndelivered = 6 }) { bench async throws in
            func status() async -> AgentStatus { await bench.agentStatus() }
            #expect(await status().notice == nil)
            try go(bench, to: "2026-01-01T21:30:00Z")
            await bench.fetch(2)
            await bench.dispatch()
            let held = await status()
            #expect(held.headline == nil)
            #expect(held.notice?.hasPrefix("Sink phone is quiet until ") == true)
            #expect(held.notice?.hasSuffix("06:00:00 UTC: 2 changes and the watermark wait for it") == true)
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.fetch(3)
            await bench.dispatch()
            let full = await status()
            #expect(full.reasons == ["backpressure"] && full.notice == nil)
            #expect(full.headline?.hasPrefix("Polling stopped: outbox 83 % full, because sink phone is quiet") == true)
            #expect(full.problems?.first?.reason == "quiet_hours")
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let morning = await status()
            #expect(!morning.reasons.contains("backpressure") && morning.notice == nil)
        }
    }

    /// An optional sink keeps nothing back.
    @Test func quietHoursOfAnOptionalSinkAreNoNotice() async throws {
        try await run(change: { $0.delivery.sinks[1].isRequired = false }) { bench async throws in
            _ = try await spendTheNight(bench)
            #expect(await bench.agentStatus().notice == nil)
        }
    }

    @Test func changesOfTheNightAreOneNotificationInTheMorning() async throws {
        try await run { bench async throws in
            let ids = try await spendTheNight(bench)
            #expect(bench["log"].seen.map(\.count) == [2, 3])
            #expect(bench["phone"].seen.isEmpty)
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T06:00:00.000Z")
            try go(bench, to: "2026-01-02T05:59:59Z")
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)
            #expect(try await bench.counts() == [.claimed: 5])

            try go(bench, to: "2026-01-02T06:00:00Z")
            let pass = await bench.dispatch()
            #expect(pass.delivered == 5 && pass.next == nil)
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(bench["phone"].named == ids)
            let message = NotificationMessage(json: try #require(bench["phone"].seen.first).payload)
            #expect(message?.body == "You have 5 new updates in your starred projects")
            #expect(!bench["log"].seen.map(\.id).contains(try #require(message?.id)))
            await bench.acknowledge()
            #expect(try await bench.counts() == [.acknowledged: 5])
            await bench.dispatch()
            #expect(bench["log"].seen.count == 2 && bench["phone"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSingleHeldNotificationKeepsItsId() async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            await bench.fetch(2)
            await bench.dispatch()
            try go(bench, to: "2026-01-02T06:00:05Z")
            await bench.dispatch()
            #expect(bench["phone"].seen == bench["log"].seen)
            #expect(bench["log"].dueSince.map { $0?.iso8601 } == ["2026-01-01T21:30:00.000Z"])
            #expect(bench["phone"].dueSince.map { $0?.iso8601 } == ["2026-01-02T06:00:00.000Z"])
            #expect(try await bench.counts() == [.delivered: 2])
        }
    }

    @Test func byDayASinkWithHoursGetsChangesAtOnce() async throws {
        try await run { bench async throws in
            await bench.fetch(2)
            await bench.dispatch()
            #expect(bench["phone"].seen == bench["log"].seen)
            #expect(try await bench.counts() == [.delivered: 2])
        }
    }

    @Test func aRestartInTheNightLosesAndDoublesNothing() async throws {
        try await run { bench async throws in
            let ids = try await spendTheNight(bench)
            try await bench.restart()
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)
            // The agent is away when the sink opens, and the sink when the agent is back.
            try go(bench, to: "2026-01-02T07:00:00Z")
            bench["phone"].answer(.down)
            await bench.dispatch()
            try await bench.restart()
            bench["phone"].answer(.ok)
            try go(bench, to: "2026-01-02T07:30:00Z")
            await bench.dispatch()
            let seen = bench["phone"].seen
            #expect(seen.count == 2 && seen[0] == seen[1])
            #expect(Set(bench["phone"].named) == Set(ids))
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(bench["log"].seen.count == 2)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aReloadMovesWhatIsHeldToTheNewHours() async throws {
        try await run { bench async throws in
            _ = try await spendTheNight(bench)
            bench.clock.advance(by: .seconds(60))
            try await bench.restart { $0.delivery.sinks[1].hours = QuietHours("22:00-05:30").map { .quiet($0) } }
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T04:30:00.000Z")
            try await bench.restart { $0.delivery.sinks[1].hours = Self.morning }
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T07:00:00.000Z")
            #expect(bench["phone"].seen.isEmpty)
            try await bench.restart { $0.delivery.sinks[1].hours = nil }
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(try await bench.counts() == [.delivered: 5])
        }
    }

    @Test func aRetryWaitsForTheMorningUnderItsId() async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T20:59:58Z")
            bench["phone"].answer(.down)
            await bench.fetch(2)
            let next = try #require(await bench.dispatch().next)
            let evening = try #require(Timestamp(iso8601: "2026-01-01T21:00:00Z"))
            bench.clock.advance(by: max(next, evening) - bench.clock.now)
            #expect(await bench.dispatch().next?.iso8601 == "2026-01-02T06:00:00.000Z")
            #expect(bench["phone"].seen.count == 1)
            #expect(await bench.sample("starwatch_outbox_oldest_due_timestamp_seconds") == "0")
            try go(bench, to: "2026-01-01T23:00:00Z")
            await bench.fetch(1)
            await bench.dispatch()
            bench["phone"].answer(.ok)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            // The sink can know the first one, so it is not joined.
            #expect(bench["phone"].seen.map(\.count).sorted() == [1, 2, 2])
            #expect(Set(bench["phone"].seen.map(\.id)).count == 2)
            #expect(try await bench.counts() == [.delivered: 3])
        }
    }

    @Test func nightsDoNotCountForGivingUpAndDaysDo() async throws {
        try await run(change: { $0.delivery.sinks[1].giveUpAfter = .seconds(3 * 3600) }) { bench async throws in
            bench["phone"].answer(.down)
            try go(bench, to: "2026-01-01T19:30:00Z")
            await bench.fetch(1)
            await bench.dispatch()
            let oldest = "starwatch_outbox_oldest_due_timestamp_seconds"
            for time in ["2026-01-01T21:00:00Z", "2026-01-02T05:00:00Z"] {
                try go(bench, to: time)
                await bench.dispatch()
                #expect(await bench.sample(oldest) == "0", "\(time)")
            }
            for time in ["2026-01-02T06:00:00Z", "2026-01-02T07:00:00Z"] {
                try go(bench, to: time)
                await bench.dispatch()
                #expect(bench.attempts("phone", .givenUp) == 0, "\(time)")
            }
            #expect(await bench.sample(oldest) == "1767328200")
            try go(bench, to: "2026-01-02T07:31:00Z")
            await bench.dispatch()
            #expect(bench.attempts("phone", .givenUp) == 1)
            #expect(try await bench.counts() == [.dead: 1])
        }
    }

    @Test func timesOfTheDayCollectADayAndHoldBackNoRetry() async throws {
        try await run(change: { $0.delivery.sinks[1].hours = Self.morning }) { bench async throws in
            let first = await bench.fetch(2)
            await bench.dispatch()
            let second = try await spendTheNight(bench)
            #expect(bench["phone"].seen.isEmpty)
            bench["phone"].script(.down)
            try go(bench, to: "2026-01-02T07:00:00Z")
            let next = try #require(await bench.dispatch().next)
            #expect(next < bench.clock.now + .seconds(120))
            bench.clock.advance(by: next - bench.clock.now)
            await bench.dispatch()
            let seen = bench["phone"].seen
            #expect(seen.map(\.count) == [7, 7] && seen[0] == seen[1])
            #expect(Set(bench["phone"].named) == Set(first + second))
            #expect(try await bench.counts() == [.delivered: 7])
        }
    }

    @Test func sinksThatOpenAtOtherTimesGetEachOneNotification() async throws {
        try await run(
            ["log", "phone", "tablet", "mail"],
            change: { $0.delivery.sinks[3].hours = Self.morning }
        ) { bench async throws in
            let ids = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            // Sinks that open together get the same notification.
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(bench["tablet"].seen == bench["phone"].seen)
            #expect(bench["mail"].seen.isEmpty)
            #expect(try await bench.counts() == [.claimed: 5])
            try go(bench, to: "2026-01-02T07:00:00Z")
            await bench.dispatch()
            #expect(bench["mail"].named == ids && bench["mail"].seen.count == 1)
            #expect(bench["log"].seen.count == 2 && bench["phone"].seen.count == 1)
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func anOptionalSinkHoldsNoAcknowledgementAndGetsEverythingAsOne() async throws {
        try await run(change: { $0.delivery.sinks[1].isRequired = false }) { bench async throws in
            let ids = try await spendTheNight(bench)
            await bench.acknowledge()
            #expect(try await bench.counts() == [.acknowledged: 5])
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            #expect(bench["phone"].named == ids && bench["phone"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func moreThanOneNotificationListsBecomesAsFewAsPossible() async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            for _ in 0..<3 {
                await bench.fetch(40)
                await bench.dispatch()
                bench.clock.advance(by: .seconds(60))
            }
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.count).sorted() == [40, 80])
            #expect(Set(bench["phone"].named).count == 120)
            #expect(try await bench.counts() == [.delivered: 120])
        }
    }

    /// A carrier beside a single notification, two single ones, one beside the parts of a large group, and two such groups.
    @Test(arguments: [
        ([60, 40, 1], [1, 100]), ([60, 41], [41, 60]), ([101, 1], [1, 1, 100]), ([101, 101], [1, 1, 100, 100]),
    ])
    func noneOfMoreThanAHundredChangesOfTheNightIsReplacedUnseen(fetched: [Int], seen: [Int]) async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            for count in fetched {
                await bench.fetch(count)
                await bench.dispatch()
                bench.clock.advance(by: .seconds(60))
            }
            let total = fetched.reduce(0, +)
            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().delivered == total)
            let messages = bench["phone"].seen.compactMap { NotificationMessage(json: $0.payload) }
            #expect(messages.map(\.count).sorted() == seen)
            #expect(Set(messages.map(\.collapseKey)).count == seen.count)
            #expect(messages.compactMap(\.part).sorted() == fetched.flatMap { $0 > 100 ? [1, 2] : [] }.sorted())
            #expect(Set(bench["phone"].named).count == total && bench["phone"].named.count == total)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aRejectedJoinedNotificationMakesItsChangesDeadAndARetrySendsThem() async throws {
        try await run(change: { $0.outbox.maxRetries = 1 }) { bench async throws in
            let ids = try await spendTheNight(bench)
            bench["phone"].script(.refused)
            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().dead == 5)
            #expect(try await bench.rows(.dead).map(\.attempts) == [1, 1, 1, 1, 1])
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 5)
            bench["phone"].forget()
            await bench.dispatch()
            #expect(Set(bench["phone"].named) == Set(ids) && bench["phone"].named.count == 5)
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func discardedChangesLeaveAJoinedNotificationAndTheLastOnesEndIt() async throws {
        try await run { bench async throws in
            let ids = try await spendTheNight(bench)
            bench["phone"].answer(.down)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            func discard(_ numbers: [Int64]) async throws -> Int {
                let rows = DiscardSelection(RowSelection(ids: numbers))
                return try await bench.agent.perform(ControlAPI.discardOutbox, rows).changed
            }
            let rows = try await bench.rows()
            // A part of a notification, and then the rest of it.
            for count in 1...2 {
                #expect(try await discard(rows.filter { $0.jwtID == ids[count - 1] }.map(\.id)) == 1)
                bench["phone"].forget()
                bench.clock.advance(by: .seconds(60))
                await bench.dispatch()
                #expect(bench["phone"].named == Array(ids[count...]))
            }
            #expect(try await discard(rows.filter { ids[2...].contains($0.jwtID) }.map(\.id)) == 3)
            bench["phone"].answer(.ok)
            bench["phone"].forget()
            bench.clock.advance(by: .seconds(600))
            #expect(await bench.dispatch().next == nil)
            #expect(bench["phone"].seen.isEmpty)
            #expect(try await bench.counts() == [.cancelled: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSinkThatIsRemovedInTheNightLeavesTheChangesToTheOthers() async throws {
        try await run { bench async throws in
            _ = try await spendTheNight(bench)
            bench["phone"].answer(.down)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let names: Set = ["log"]
            _ = try await bench.agent.store.deliveries.retainSinks(names, of: Bench.did, now: bench.clock.now)
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.agent.store.deliveries.waitingSinks(of: Bench.did).isEmpty)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aJoinedNotificationThatDoesNotOpenIsMadeAgain() async throws {
        try await Bench.run(
            sinks: ["log", "phone"],
            configure: { options, _, folder in
                try folder.write(MasterKey().text, to: "master.key")
                options.security.masterKeyFile = folder.path("master.key")
                options.delivery.sinks[1].hours = Self.night
                options.delivery.sinks[1].timezone = "Europe/Zurich"
            }
        ) { bench async throws in
            let ids = try await spendTheNight(bench)
            bench["phone"].script(.down)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            try DatabaseOnDisk(path: bench.folder.path("starwatch.db")).execute(
                """
                UPDATE notifications SET title = substr(title, 1, 20)
                    || iif(substr(title, 21, 1) = 'A', 'B', 'A') || substr(title, 22)
                WHERE id = (SELECT max(id) FROM notifications)
                """
            )
            bench.clock.advance(by: .seconds(60))
            #expect(await bench.dispatch().next == bench.clock.now - .seconds(60))
            await bench.dispatch()
            let seen = bench["phone"].seen
            #expect(seen.count == 2 && seen[0].id != seen[1].id)
            #expect(Set(bench["phone"].named) == Set(ids))
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSnoozeEndsWhenItsPersonWanted() async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            await bench.fetch(2)
            await bench.dispatch()
            let first = try #require(bench["log"].seen.first).id
            _ = try await bench.agent.perform(ControlAPI.actOnNotification, ChosenAction(.snooze, on: first))
            bench.clock.advance(by: NotificationAction.snoozeDuration)
            await bench.dispatch()
            #expect(bench["phone"].seen.map { NotificationMessage(json: $0.payload)?.repeats } == [first])
        }
    }

    @Test func whatIsHeldIsShownAndNoFault() async throws {
        try await run { bench async throws in
            let id = try await spendTheNight(bench)[0]
            let story = try await bench.agent.perform(ControlAPI.explain, id)
            #expect(story.waits.map(\.reason) == [.sinkHours])
            #expect(story.waits.map(\.until) == ["2026-01-02T06:00:00.000Z"])
            #expect(story.waits.map(\.sink) == ["phone"])
            let row = try #require(try await bench.rows().first)
            #expect(row.heldBy == ["phone"] && row.heldUntil == "2026-01-02T06:00:00.000Z")
            let held = #"starwatch_sink_held_rows{sink="phone"}"#
            #expect(await bench.sample(held) == "5")
            #expect(await bench.sample("starwatch_outbox_oldest_due_timestamp_seconds") == "0")
            let status = await bench.agentStatus()
            let waiting = try #require(status.outbox.waiting?["phone"])
            #expect(waiting.held == 5 && waiting.heldUntil == "2026-01-02T06:00:00.000Z")
            #expect(status.outbox.oldestDue == nil)

            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.sample(held) == "0")
            bench["phone"].answer(.down)
            await bench.dispatch()
            let joined = try #require(bench["phone"].seen.first)
            #expect(await bench.sample("starwatch_outbox_oldest_due_timestamp_seconds") == "1767333600")
            #expect(try await bench.agent.perform(ControlAPI.explain, id).waits.map(\.reason) == [.sinkBackoff])
            #expect(try await bench.agent.perform(ControlAPI.explain, joined.id).rows?.count == 5)
            #expect(try await bench.rows().first?.heldBy == nil)
            #expect(await bench.agentStatus().outbox.waiting?["phone"]?.held == nil)

            bench["phone"].answer(.ok)
            bench.clock.advance(by: .seconds(60))
            await bench.dispatch()
            let steps = try await bench.agent.perform(ControlAPI.explain, id).steps.filter { $0.step == .attempt }
            #expect(steps.map(\.sink) == ["log", "phone", "phone"])
            #expect(steps.map(\.result) == ["ok", "unavailable", "ok"])
        }
    }
}

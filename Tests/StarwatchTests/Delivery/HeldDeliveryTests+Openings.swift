import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// Openings that an agent misses, that move, and that release retries too.
extension HeldDeliveryTests {
    /// A laptop sleeps through the day, or the agent is stopped, and the sink is closed again when it is back.
    @Test(arguments: [false, true])
    func whatMissedItsMorningComesInTheNextOneWithTheChangesOfThatNight(isStopped: Bool) async throws {
        try await run { bench async throws in
            let first = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T22:00:00Z")
            if isStopped { try await bench.restart() }
            let morning = "2026-01-03T06:00:00.000Z"
            #expect(await bench.dispatch().next?.iso8601 == morning)
            let row = try #require(try await bench.rows().first)
            #expect(row.heldBy == ["phone"] && row.heldUntil == morning)
            #expect(await bench.sample("starwatch_outbox_oldest_due_timestamp_seconds") == "0")
            try go(bench, to: "2026-01-02T23:00:00Z")
            let second = await bench.fetch(1)
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)

            try go(bench, to: "2026-01-03T06:00:00Z")
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.count) == [6])
            #expect(bench["phone"].named == first + second)
            #expect(try await bench.counts() == [.delivered: 6])
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// The time of delivery has passed, so there is nothing to wait for.
    @Test func whatMissedItsTimeOfTheDayComesAtOnce() async throws {
        try await run(change: { $0.delivery.sinks[1].hours = Self.morning }) { bench async throws in
            _ = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T22:00:00Z")
            try await bench.restart { $0.delivery.sinks[1].hours = Self.morning }
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(try await bench.counts() == [.delivered: 5])
        }
    }

    /// On a phone the second one would replace the first one, unseen.
    @Test(arguments: [1, 2])
    func aRetryOfTheMorningAndTheChangesOfTheNightDoNotReplaceEachOther(count: Int) async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T20:59:58Z")
            bench["phone"].answer(.down)
            await bench.fetch(2)
            let next = try #require(await bench.dispatch().next)
            let evening = try #require(Timestamp(iso8601: "2026-01-01T21:00:00Z"))
            bench.clock.advance(by: max(next, evening) - bench.clock.now)
            await bench.dispatch()
            bench["phone"].answer(.ok)
            bench["phone"].forget()
            for hour in 0..<count {
                try go(bench, to: "2026-01-02T0\(hour):30:00Z")
                await bench.fetch(1)
                await bench.dispatch()
            }

            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let messages = bench["phone"].seen.compactMap { NotificationMessage(json: $0.payload) }
            #expect(messages.map(\.count).sorted() == [count, 2])
            #expect(messages.map(\.collapseKey).sorted() == ["starred-projects", "starred-projects_2"])
            #expect(try await bench.counts() == [.delivered: count + 2])
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// A link lives for a day, and a sink can hold a notification for one, or for two if the agent is away.
    @Test(arguments: [false, true])
    func theLinkOfWhatWaitedOpensForADay(isMissed: Bool) async throws {
        try await run(change: { if !isMissed { $0.delivery.sinks[1].hours = Self.morning } }) { bench async throws in
            try go(bench, to: isMissed ? "2026-01-02T21:30:00Z" : "2026-01-02T07:01:00Z")
            let ids = await bench.fetch(12)
            await bench.dispatch()
            if isMissed {
                try go(bench, to: "2026-01-03T22:00:00Z")
                await bench.dispatch()
            }
            try go(bench, to: isMissed ? "2026-01-04T06:00:00Z" : "2026-01-03T07:00:00Z")
            await bench.dispatch()
            try await expectTheLinkOpensForADay(bench, ids)
        }
    }

    /// A retry that the hours hold comes as late as what they hold from the start.
    @Test func theLinkOfARetryOfTheMorningOpensForADay() async throws {
        try await run { bench async throws in
            try go(bench, to: "2026-01-01T20:59:58Z")
            bench["phone"].answer(.down)
            let ids = await bench.fetch(12)
            let next = try #require(await bench.dispatch().next)
            let evening = try #require(Timestamp(iso8601: "2026-01-01T21:00:00Z"))
            bench.clock.advance(by: max(next, evening) - bench.clock.now)
            await bench.dispatch()
            bench["phone"].answer(.ok)
            bench["phone"].forget()
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            try await expectTheLinkOpensForADay(bench, ids)
        }
    }

    private func expectTheLinkOpensForADay(_ bench: Bench, _ ids: [String]) async throws {
        let payload = try #require(bench["phone"].seen.first).payload
        let link = try DeepLink(parsing: try #require(NotificationMessage(json: payload)).deepLink)
        guard case .shortlink(let shortlink) = link else {
            Issue.record("there is no shortlink")
            return
        }
        bench.clock.advance(by: .seconds(86_399))
        let report = try await bench.agent.perform(ControlAPI.showShortlink, shortlink)
        #expect(report.changes.map(\.jwtID) == ids)
        bench.clock.advance(by: .seconds(1))
        await #expect(throws: ControlError.self) {
            try await bench.agent.perform(ControlAPI.showShortlink, shortlink)
        }
    }

    /// A dispatcher of the agent whose sinks all have the same hours.
    private func dispatcher(
        of bench: Bench,
        to sinks: [String],
        _ hours: SinkHours?,
        zone: (@Sendable () -> any TimeZoneRules)? = nil
    ) -> DispatchService {
        DispatchService(
            polls: bench.agent.runtime.polls,
            sinks: sinks.map { name in
                let slot = bench.slot(name)
                var settings = bench.options.delivery.sinks.first { $0.name == name }
                settings?.hours = hours
                return SinkSlot(bench[name], settings, label: slot.label, target: slot.target, zone: zone)
            },
            options: bench.options,
            account: bench.agent.runtime.account
        )
    }

    @Test func anotherZoneOfTheMachineMovesWhatIsHeld() async throws {
        let journey = Journey(hours: -5)
        try await run(["phone"]) { bench async throws in
            let dispatcher = dispatcher(of: bench, to: ["phone"], Self.night) { journey.zone }
            for (time, count) in [("2026-01-02T04:00:00Z", 2), ("2026-01-02T05:00:00Z", 3)] {
                try go(bench, to: time)
                await bench.fetch(count)
                #expect(await dispatcher.pass().next?.iso8601 == "2026-01-02T12:00:00.000Z")
            }
            journey.go(toHours: 1)
            #expect(await dispatcher.pass().next?.iso8601 == "2026-01-02T06:00:00.000Z")
            #expect(bench["phone"].seen.isEmpty)
            try go(bench, to: "2026-01-02T06:00:00Z")
            _ = await dispatcher.pass()
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(try await bench.counts() == [.delivered: 5])
        }
    }

    /// The former agent had hours. This one has none, and had served the account before.
    @Test func whatAnAccountThatComesBackBringsFollowsTheHoursHere() async throws {
        try await run { bench async throws in
            let dispatcher = dispatcher(of: bench, to: ["log", "phone"], nil)
            _ = await dispatcher.pass()
            _ = try await spendTheNight(bench)
            let bundle = try await bench.agent.perform(ControlAPI.exportAccount, AccountExport()).bundle
            let request = AccountImport(bundle: bundle, undo: true)
            let report = try await bench.agent.perform(ControlAPI.importAccount, request)
            #expect(report.result == "imported")
            _ = await dispatcher.pass()
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
        }
    }
}

/// A machine that travels.
private final class Journey: Sendable {
    private let hours: Mutex<Int>

    /// - Parameter hours: The hours east of UTC.
    init(hours: Int) { self.hours = Mutex(hours) }

    var zone: any TimeZoneRules { FixedZone(identifier: "there", offsetSeconds: hours.withLock { $0 } * 3600) }

    func go(toHours new: Int) { hours.withLock { $0 = new } }
}

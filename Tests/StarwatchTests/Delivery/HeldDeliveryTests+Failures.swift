import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
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

    /// Gives up what the night has joined. Returns the id of the joined notification.
    private func giveUp(_ bench: Bench) async throws -> String {
        bench["phone"].answer(.down)
        for time in ["2026-01-02T06:00:00Z", "2026-01-02T08:00:00Z", "2026-01-02T09:01:00Z"] {
            try go(bench, to: time)
            await bench.dispatch()
        }
        #expect(bench.attempts("phone", .givenUp) == 1)
        #expect(try await bench.counts() == [.dead: 5])
        let id = try #require(bench["phone"].seen.first).id
        bench["phone"].answer(.ok)
        bench["phone"].forget()
        // Otherwise its circuit can still be open.
        bench.clock.advance(by: .seconds(3600))
        return id
    }

    /// The sink can have accepted it although its answer was lost.
    @Test func aRetryOfOneChangeSendsTheJoinedNotificationUnderItsId() async throws {
        try await run(change: { $0.delivery.sinks[1].giveUpAfter = .seconds(3 * 3600) }) { bench async throws in
            let ids = try await spendTheNight(bench)
            let joined = try await giveUp(bench)
            let one = try #require(try await bench.rows().first).id
            #expect(try await bench.agent.perform(ControlAPI.outboxRetry, RowSelection(ids: [one])).changed == 5)
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [joined])
            #expect(Set(bench["phone"].named) == Set(ids))
            #expect(bench["log"].seen.count == 2)
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(try await bench.imbalance() == 0)
            await bench.dispatch()
            #expect(bench["phone"].seen.count == 1)
        }
    }

    @Test func aRetriedJoinedNotificationHasNoChangeThatWasDiscardedMeanwhile() async throws {
        try await run(change: { $0.delivery.sinks[1].giveUpAfter = .seconds(3 * 3600) }) { bench async throws in
            let ids = try await spendTheNight(bench)
            let joined = try await giveUp(bench)
            let rows = try await bench.rows().filter { $0.jwtID == ids[0] }.map(\.id)
            let selection = DiscardSelection(RowSelection(ids: rows))
            #expect(try await bench.agent.perform(ControlAPI.outboxDiscard, selection).changed == 1)
            #expect(try await bench.agent.perform(ControlAPI.outboxRetry, RowSelection(allOf: nil)).changed == 4)
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [joined])
            #expect(Set(bench["phone"].named) == Set(ids[1...]))
            #expect(try await bench.counts() == [.cancelled: 1, .delivered: 4])
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// Expects that `phone` has got the night as one notification, perhaps more than once, and that nothing is left.
    private func expectOneNotification(_ bench: Bench, of ids: [String], _ comment: Comment) async throws {
        let seen = bench["phone"].seen
        #expect(Set(seen.map(\.id)).count == 1 && seen.allSatisfy { $0 == seen[0] }, comment)
        #expect(Set(bench["phone"].named) == Set(ids), comment)
        #expect(bench["log"].seen.count == 2, comment)
        #expect(try await bench.counts() == [.delivered: 5], comment)
        #expect(try await bench.imbalance() == 0, comment)
    }

    @Test(arguments: [StoreOperation.read, .claim, .delivery])
    func aDatabaseThatFailsInTheMorningLosesAndDoublesNothing(operation: StoreOperation) async throws {
        let fault = StoreFault()
        try await run(dependencies: fault.dependencies) { bench async throws in
            let ids = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T06:00:00Z")
            fault.fail(operation)
            await bench.dispatch()
            fault.fail()
            // The lease of an attempt whose end was not stored is over then.
            bench.clock.advance(by: .seconds(600))
            await bench.dispatch()
            try await expectOneNotification(bench, of: ids, "\(operation)")
        }
    }

    /// Before and after each access of the pass that joins and delivers.
    @Test(arguments: [false, true])
    func aCrashAtAnyAccessOfTheMorningLosesAndDoublesNothing(isOfTwoPolls: Bool) async throws {
        var accesses = 0
        var isSurvived = false
        while !isSurvived, accesses < 100 {
            let death = Death()
            try await runTwoPolls(dependencies: death.dependencies) { bench async throws in
                let ids = try await isOfTwoPolls ? spendTheNightOfTwoPolls(bench) : spendTheNight(bench)
                try go(bench, to: "2026-01-02T06:00:00Z")
                death.come(after: accesses)
                await bench.dispatch()
                isSurvived = !death.hasCome
                death.come(after: nil)
                try await bench.restart()
                await bench.dispatch()
                try await expectOneNotification(bench, of: ids, "after \(accesses) moments")
            }
            accesses += 1
        }
        #expect(isSurvived && accesses > 10)
    }
}

/// The end of a process at a moment of an access to its database: that access and all later ones fail.
private final class Death: Sendable {
    private let left = Mutex<Int?>(nil)
    private let isOver = Mutex(false)

    /// Sets the number of moments until it comes; `nil` for never.
    func come(after moments: Int?) { left.withLock { $0 = moments } }

    var hasCome: Bool { isOver.withLock { $0 } }

    var dependencies: AgentDependencies {
        var dependencies = AgentDependencies()
        dependencies.store = { options in
            options.interrupt = { (operation, _) throws(StoreError) in
                // Logs go their own way.
                if operation != .log, self.comes() { throw .busy }
            }
        }
        return dependencies
    }

    private func comes() -> Bool {
        let comes = left.withLock { left in
            guard let moments = left else { return false }
            if moments > 0 { left = moments - 1 }
            return moments == 0
        }
        if comes { isOver.withLock { $0 = true } }
        return comes
    }
}

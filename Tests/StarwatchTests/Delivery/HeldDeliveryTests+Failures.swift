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
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: [one])).changed == 5)
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
            #expect(try await bench.agent.perform(ControlAPI.discardOutbox, selection).changed == 1)
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 4)
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [joined])
            #expect(Set(bench["phone"].named) == Set(ids[1...]))
            #expect(try await bench.counts() == [.cancelled: 1, .delivered: 4])
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// Runs `body` with `phone`, which is silent by night, and `mail`, which gets everything at 22:00Z. Both are given up after
    /// three hours.
    private func runWithTwoHours(_ body: (Bench) async throws -> Void) async throws {
        try await run(
            ["log", "phone", "mail"],
            change: { options in
                options.delivery.sinks[2].hours = .deliverAt(["23:00"].compactMap(DayTime.init))
                for index in 1...2 { options.delivery.sinks[index].giveUpAfter = .seconds(3 * 3600) }
            },
            body
        )
    }

    /// Fetches `count` changes at a time, and delivers what is due.
    private func fetch(_ count: Int, at time: String, _ bench: Bench) async throws -> [String] {
        try go(bench, to: time)
        let ids = await bench.fetch(count)
        await bench.dispatch()
        return ids
    }

    /// The first night of ``runWithTwoHours(_:)``: `mail` has the first two changes, and holds the other three until the evening.
    /// `phone` fails to get all five as one.
    private func failTheFirstMorning(_ bench: Bench) async throws -> [String] {
        let first = try await fetch(2, at: "2026-01-01T21:30:00Z", bench)
        try go(bench, to: "2026-01-01T22:00:00Z")
        await bench.dispatch()
        #expect(bench["mail"].named == first)
        bench["mail"].forget()
        let second = try await fetch(3, at: "2026-01-01T23:00:00Z", bench)
        bench["phone"].answer(.down)
        try await dispatch(bench, at: ["2026-01-02T06:00:00Z", "2026-01-02T08:00:00Z", "2026-01-02T09:01:00Z"])
        #expect(try await bench.counts() == [.dead: 2, .claimed: 3])
        return first + second
    }

    private func dispatch(_ bench: Bench, at times: [String]) async throws {
        for time in times {
            try go(bench, to: time)
            await bench.dispatch()
        }
    }

    /// Retries a row of the change, and delivers.
    private func retry(_ change: String, _ bench: Bench) async throws -> Int {
        // Otherwise the circuits can still be open.
        bench.clock.advance(by: .seconds(3600))
        for sink in ["phone", "mail"] {
            bench[sink].answer(.ok)
            bench[sink].forget()
        }
        let row = try #require(try await bench.rows().first { $0.jwtID == change }).id
        let changed = try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: [row])).changed
        for _ in 0..<3 { await bench.dispatch() }
        return changed
    }

    /// The changes that wait for the other sink cannot be retried. If the joined notification left them behind, they would come
    /// to the sink a second time.
    @Test func aRetriedJoinedNotificationIsAlsoThatOfChangesThatWaitForAnotherSink() async throws {
        try await runWithTwoHours { bench async throws in
            let ids = try await failTheFirstMorning(bench)
            let joined = try #require(bench["phone"].seen.first).id
            #expect(try await retry(ids[0], bench) == 2)
            #expect(bench["phone"].seen.map(\.id) == [joined])
            #expect(try await bench.counts() == [.delivered: 2, .claimed: 3])
            try await dispatch(bench, at: ["2026-01-02T22:00:00Z"])
            #expect(Set(bench["mail"].named) == Set(ids[2...]))
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(bench["phone"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// Each morning's notification shares changes with that of the evening before, and this one with that of the morning before.
    @Test func aRetryThatReachesFromNightToNightSendsEachJoinedNotificationOnceUnderItsId() async throws {
        try await runWithTwoHours { bench async throws in
            let first = try await failTheFirstMorning(bench)
            bench["mail"].answer(.down)
            let second = try await fetch(1, at: "2026-01-02T21:30:00Z", bench)
            try await dispatch(bench, at: ["2026-01-02T22:00:00Z"])
            let third = try await fetch(1, at: "2026-01-03T00:00:00Z", bench)
            try await dispatch(bench, at: ["2026-01-03T01:01:00Z"])
            try await dispatch(bench, at: ["2026-01-03T06:00:00Z", "2026-01-03T08:00:00Z", "2026-01-03T09:01:00Z"])
            #expect(try await bench.counts() == [.dead: 6, .claimed: 1])
            let (mornings, evenings) = (Set(bench["phone"].seen.map(\.id)), Set(bench["mail"].seen.map(\.id)))
            #expect(mornings.count == 2 && evenings.count == 1)

            #expect(try await retry(first[0], bench) == 6)
            #expect(Set(bench["phone"].seen.map(\.id)) == mornings && bench["phone"].seen.count == 2)
            #expect(Set(bench["phone"].named) == Set(first + second + third))
            #expect(Set(bench["mail"].seen.map(\.id)) == evenings && bench["mail"].seen.count == 1)
            #expect(Set(bench["mail"].named) == Set(first[2...] + second))
            #expect(try await bench.counts() == [.delivered: 6, .claimed: 1])

            try await dispatch(bench, at: ["2026-01-03T22:00:00Z"])
            #expect(bench["mail"].named.suffix(1) == third[...])
            #expect(try await bench.counts() == [.delivered: 7])
            #expect(bench["phone"].seen.count == 2 && bench["log"].seen.count == 4)
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

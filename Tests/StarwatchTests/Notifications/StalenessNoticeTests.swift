import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// One quiet notice while a poll is stale (R-NOT-14).
@Suite struct StalenessNoticeTests {
    private func messages(_ bench: Bench, _ sink: String = "first") throws -> [NotificationMessage] {
        try bench[sink].seen.map { try #require(NotificationMessage(json: $0.payload)) }
    }

    private func withBench(
        notice: Bool? = DeliveryOptions().stalenessNotice,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run(
            sinks: ["first", "second"],
            configure: { options, _, _ in
                options.delivery.stalenessNotice = notice
                options.polls[0].staleAfter = .seconds(4 * 3600)
            },
            body
        )
    }

    /// With many accounts each visit would read the database for it.
    @Test func itIsOnButForManyAccounts() {
        var options = DeliveryOptions()
        #expect(options.noticesStaleness(forMany: false) && !options.noticesStaleness(forMany: true))
        for (isOn, isOfMany) in [(true, true), (true, false), (false, true), (false, false)] {
            options.stalenessNotice = isOn
            #expect(options.noticesStaleness(forMany: isOfMany) == isOn)
        }
    }

    private func isStale(_ bench: Bench) async -> Bool {
        await bench.agent.state().polls.values.contains(where: \.stale)
    }

    @Test func itComesOnceAndIsTakenBackByTheFirstSuccess() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            bench.clock.advance(by: .seconds(4 * 3600))
            await bench.dispatch()
            #expect(bench["first"].seen.isEmpty)
            bench.clock.advance(by: .seconds(3600))
            await bench.dispatch()
            bench.clock.advance(by: .seconds(3600))
            await bench.dispatch()
            try await bench.restart()
            await bench.dispatch()
            let notice = try #require(try messages(bench).first)
            #expect(try messages(bench).count == 1)
            #expect(notice.title == "Data may be outdated")
            #expect(notice.body == "Last updated 5 hours ago. Tap to refresh.")
            #expect(notice.priority == "low" && notice.cleared == nil && notice.count == 0)
            #expect(notice.collapseKey == "staleness-starred-projects")
            await bench.poll()
            await bench.dispatch()
            let cleared = try #require(try messages(bench).last)
            #expect(try messages(bench).count == 2)
            #expect(cleared.cleared == true && cleared.collapseKey == notice.collapseKey && cleared.id != notice.id)
            // The other cannot take anything back, so it is not told.
            #expect(try messages(bench, "second").map(\.id) == [notice.id])
            await bench.dispatch()
            #expect(try messages(bench).count == 2)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func itOffersRefreshWhichRunsThePollAndSettings() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            let notice = try #require(try messages(bench).first)
            #expect(notice.actions == ["refresh", "settings", "dismiss"])
            #expect(notice.actionLabels == ["refresh": "Refresh Now", "settings": "Settings", "dismiss": "Dismiss"])
            let before = bench.mock.requestCount(of: .plansChanged)
            for turn in 1...2 {
                let report = try await bench.agent.perform(
                    ControlAPI.actOnNotification,
                    ChosenAction(.refresh, on: notice.id)
                )
                #expect(report.already == false)
                #expect(bench.mock.requestCount(of: .plansChanged) == before + turn)
            }
            let settings = ChosenAction(.settings, on: notice.id)
            let opened = try await bench.agent.perform(ControlAPI.actOnNotification, settings)
            #expect(opened.deepLink == notice.deepLink)
            await bench.dispatch()
            let cleared = try #require(try messages(bench).last)
            #expect(cleared.cleared == true && cleared.actions == ["dismiss"])
        }
    }

    @Test func itNamesItsCauseForPrograms() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            bench.mock.setStickyFault(.malformedJSON, at: .plansChanged)
            for _ in 1...2 {
                bench.clock.advance(by: .seconds(3 * 3600))
                await bench.poll()
            }
            await bench.agent.look()
            await bench.dispatch()
            bench.mock.clearFaults()
            bench.clock.advance(by: .seconds(900))
            await bench.poll()
            await bench.dispatch()
            let all = try messages(bench)
            #expect(all.map(\.problem) == ["failing", nil] && all.map(\.cleared) == [nil, true])
            #expect(all.first?.body == "Last updated 6 hours ago. Tap to refresh.")
        }
    }

    @Test func whatNobodyHasTakenYetIsDroppedWhenItIsOver() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            bench["first"].answer(.down)
            bench["second"].answer(.down)
            await bench.poll()
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            await bench.poll()
            await bench.dispatch()
            bench["first"].answer(.ok)
            let tries = bench["first"].seen.count
            bench.clock.advance(by: .seconds(600))
            await bench.dispatch()
            #expect(bench["first"].seen.count == tries)
        }
    }

    @Test func aPollThatNeverSucceededSaysSo() async throws {
        try await withBench { bench async throws in
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            #expect(try messages(bench).map(\.body) == ["Not updated yet. Tap to refresh."])
        }
    }

    @Test func aRestartDoesNotTakeBackWhatAPollThatNeverSucceededSaid() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            for _ in 0..<3 {
                try await bench.restart()
                await bench.dispatch()
                bench.clock.advance(by: .seconds(5 * 3600))
                await bench.dispatch()
            }
            #expect(try messages(bench).count == 1)
            await bench.poll()
            await bench.dispatch()
            #expect(try messages(bench).map(\.cleared) == [nil, true])
        }
    }

    @Test func aPollThatIsSwitchedOffIsNotStale() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            try await bench.agent.setStarsOptedOut(true)
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            #expect(bench["first"].seen.isEmpty)
            #expect(await !isStale(bench))
            // Its age counts from when it was switched on again, for nothing was due before.
            try await bench.agent.setStarsOptedOut(false)
            await bench.dispatch()
            #expect(await !isStale(bench))
            #expect(bench["first"].seen.isEmpty)
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            #expect(await isStale(bench))
            try await bench.agent.setStarsOptedOut(true)
            await bench.dispatch()
            #expect(try messages(bench).map(\.cleared) == [nil, true])
        }
    }

    @Test func aPollWithoutStarsIsNotStale() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            _ = try await bench.agent.changeStars(StarsChange(operation: .set, planIDs: []))
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            #expect(bench["first"].seen.isEmpty)
            #expect(await !isStale(bench))
            _ = try await bench.agent.changeStars(StarsChange(operation: .add, planIDs: bench.mock.planIDs))
            await bench.dispatch()
            #expect(await !isStale(bench))
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            #expect(await isStale(bench))
            #expect(try messages(bench).count == 1)
        }
    }

    @Test func anotherIdentitysPollIsNotStaleBeforeItsTime() async throws {
        try await withBench { bench async throws in
            await bench.poll()
            bench.clock.advance(by: .seconds(3 * 3600))
            _ = try await bench.agent.setIdentity(World.other)
            _ = try await bench.agent.changeStars(StarsChange(operation: .set, planIDs: bench.mock.planIDs))
            bench.clock.advance(by: .seconds(3 * 3600))
            #expect(await !isStale(bench))
            bench.clock.advance(by: .seconds(2 * 3600))
            #expect(await isStale(bench))
        }
    }

    @Test func aNoticeIsTakenBackHoweverLongItStood() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            for _ in 0..<2 {
                bench.clock.advance(by: .days(20))
                _ = try await bench.agent.store.retention.apply(RetentionPolicy(), now: bench.clock.now)
                await bench.dispatch()
            }
            #expect(try messages(bench).count == 1)
            await bench.poll()
            await bench.dispatch()
            #expect(try messages(bench).map(\.cleared) == [nil, true])
        }
    }

    @Test func itIsOffUnlessItIsTurnedOn() async throws {
        try await withBench(notice: false) { bench async throws in
            await bench.poll()
            bench.clock.advance(by: .seconds(50 * 3600))
            await bench.dispatch()
            #expect(bench["first"].seen.isEmpty)
        }
    }

    @Test func aChangeOfIdentityEndsIt() async throws {
        try await withBench { bench async throws in
            bench["first"].canTakeBack()
            await bench.poll()
            bench.clock.advance(by: .seconds(5 * 3600))
            await bench.dispatch()
            _ = try await bench.agent.setIdentity(nil)
            await bench.dispatch()
            #expect(try messages(bench).count == 1)
        }
    }
}

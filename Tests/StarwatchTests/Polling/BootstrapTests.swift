import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct BootstrapTests {
    @Test(arguments: MockDialect.allCases)
    func latestAnnouncesNothingAndStartsAtTheNewest(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            world.mock.publish(count: 2)
            world.clock.advance(by: .seconds(100))
            let newest = world.mock.publish(count: 3).last
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let state = try await agent.state(of: world.did)
            #expect(state.bootstrapped)
            #expect(state.fetchCursor?.rawValue == newest)
            #expect(state.watermark?.rawValue == newest)
            #expect(try world.notifications.isEmpty)
            #expect(await agent.page()["starwatch_poll_changes_found_total", ["poll": World.starred]] == 0)

            world.clock.advance(by: .seconds(100))
            let next = world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == next)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func lastWeekAnnouncesSevenDaysAtOnceAndNothingBefore(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            world.mock.publish(count: 2)
            world.clock.advance(by: .seconds(8 * 86_400))
            let recent = world.mock.publish(count: 3)
            world.clock.advance(by: .seconds(3600))
            let agent = try await world.agent { $0.polls[0].bootstrap = .lastWeek }
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(Set(try world.announced) == Set(recent))
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            let page = await agent.page()
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func theOverlapDoesNotAnnounceLaterWhatBootstrappingSaw(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            world.mock.publish(count: 4)
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            // The overlap reads the same rows again.
            let again = try await agent.runPoll(World.starred)
            #expect(again.fetched == 4)
            #expect(again.outcome == "unchanged")
            #expect(try world.notifications.isEmpty)
            let page = await agent.page()
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
        }
    }

    /// The cursor goes back to before what was evicted, and the poll looks back from there.
    @Test(arguments: [(MockDialect.canonical, 6000), (.endorser, 30_500)])
    func anEvictionDoesNotBringBackWhatBootstrappingPassedOver(dialect: MockDialect, milliseconds: Int) async throws {
        try await World.with(dialect, plans: 60) { world in
            world.mock.publish(count: 1)
            world.clock.advance(by: .milliseconds(milliseconds))
            world.mock.publish(count: 1)
            var agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .milliseconds(100))
            let ids = world.mock.publish(count: 12)
            #expect(await agent.cycle().new == 12)
            agent = try await world.agent { $0.outbox.maxUndelivered = 10 }
            #expect(try await agent.rows([.evicted]).count == 3)
            _ = await agent.runtime.dispatcher.pass()
            _ = await agent.runtime.acknowledger.pass()
            _ = try await agent.runPoll(World.starred)
            #expect(try await agent.rows([.pending, .evicted]).isEmpty)
            #expect(Set(try world.announced) == Set(ids))
        }
    }

    @Test(arguments: MockDialect.allCases)
    func anEmptyServerIsRememberedSoThatTheFirstChangeIsAnnounced(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            var agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try await agent.state(of: world.did).bootstrapped)
            world.clock.advance(by: .seconds(900))
            let first = world.mock.publish(count: 1)
            agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == first)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func beginningAnnouncesEverything(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let old = world.mock.publish(count: 3)
            world.clock.advance(by: .seconds(1000))
            let ids = old + world.mock.publish(count: 3)
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(try world.announced == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func manyPagesAreBootstrappedWithoutARow(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 260) { world in
            let newest = world.mock.publish(count: 260).last
            world.clock.advance(by: .seconds(600))
            let top = world.mock.publish(count: 1).last
            world.clock.advance(by: .seconds(60))
            let agent = try await world.agent { $0.outbox.maxUndelivered = 10 }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == top)
            #expect(newest != top)
            #expect(try world.notifications.isEmpty)
            #expect(try await agent.rows([.pending, .claimed, .delivered, .acknowledged]).isEmpty)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aBootstrapThatFailsHalfwayStartsAgain(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 120) { world in
            world.mock.publish(count: 120)
            let agent = try await world.agent()
            world.mock.script(.delay(.zero), .status(400), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            let state = try await agent.state(of: world.did)
            #expect(!state.bootstrapped)
            #expect(state.fetchCursor == nil)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try world.notifications.isEmpty)
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            #expect(try world.notifications.isEmpty)
        }
    }
}

import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct RoomTests {
    @Test(arguments: MockDialect.allCases, [EvictionPolicy.fifo])
    func aWalkThatFindsNoRoomGoesOnAfterARestart(dialect: MockDialect, policy: EvictionPolicy) async throws {
        try await World.with(dialect, plans: 260) { world in
            var ids = world.mock.publish(count: 240)
            world.clock.advance(by: .seconds(600))
            var cycles = 0
            var agent: Agent
            repeat {
                agent = try await world.agent {
                    $0.outbox.maxUndelivered = 70
                    $0.outbox.eviction = policy
                    $0.polls[0].bootstrap = .beginning
                }
                let result = await agent.cycle()
                #expect(result.outcome != .failed)
                #expect(try await agent.rows([.pending]).count <= 70)
                // Changes newer than the interrupted walk follow it.
                if cycles == 1 {
                    world.clock.advance(by: .seconds(600))
                    ids += world.mock.publish(count: 3)
                }
                _ = await agent.runtime.dispatcher.pass()
                _ = await agent.runtime.acknowledger.pass()
                cycles += 1
                if result.outcome == .unchanged { break }
            } while cycles < 20
            #expect(cycles < 20)
            #expect(cycles >= 4)
            try await expectAllAnnouncedOnce(ids, world, agent)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aCycleThatTakesTooLongLeavesTheRestToTheNext(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 260) { world in
            let ids = world.mock.publish(count: 240)
            world.clock.advance(by: .seconds(600))
            let agent = try await world.agent {
                $0.limits.cycle = .zero
                $0.polls[0].bootstrap = .beginning
            }
            var outcomes: [PollOutcome?] = []
            repeat {
                outcomes.append(await agent.cycle().outcome)
                _ = await agent.runtime.dispatcher.pass()
                _ = await agent.runtime.acknowledger.pass()
                world.clock.advance(by: .seconds(300))
            } while outcomes.last == .changed && outcomes.count < 10
            #expect(outcomes.count >= 4 && outcomes.last == .unchanged)
            // The look back at what is known is a walk of several pages too, and never to end within no time.
            try await expectAllAnnouncedOnce(ids, world, agent, isWalkOver: dialect == .canonical)
        }
    }

    /// The server no longer sends an evicted change that changed again; only a complete walk shows this.
    @Test(arguments: MockDialect.allCases)
    func whatTheServerNoLongerGivesIsGivenUpThoughACycleHasNoTime(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 130) { world in
            world.mock.publish(count: 120)
            world.clock.advance(by: .seconds(600))
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(await agent.cycle().new == 120)
            agent = try await world.agent {
                $0.outbox.maxUndelivered = 100
                $0.limits.cycle = .zero
            }
            var filter = OutboxFilter()
            filter.states = [.evicted]
            let dropped = try await agent.store.outbox.list(filter).map(\.change.plan)
            #expect(dropped.count > 20)
            world.mock.publish(dropped.map { MockChange(planID: $0, name: "anew") })
            world.clock.advance(by: .seconds(600))
            var cycles = 0
            repeat {
                _ = await agent.runtime.dispatcher.pass()
                _ = await agent.runtime.acknowledger.pass()
                _ = await agent.cycle()
                world.clock.advance(by: .seconds(300))
                cycles += 1
            } while try await !agent.rows([.pending, .claimed, .delivered, .evicted]).isEmpty && cycles < 20
            #expect(try await agent.rows([.pending, .claimed, .delivered, .evicted]).isEmpty)
            #expect(try await agent.rows([.acknowledged]).count >= 120)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func theCursorStaysBelowWhatFoundNoRoom(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 120) { world in
            let ids = world.mock.publish(count: 120)
            let agent = try await world.agent {
                $0.outbox.maxUndelivered = 60
                $0.polls[0].bootstrap = .beginning
            }
            #expect(await agent.cycle().new == 60)
            let state = try await agent.state(of: world.did)
            if dialect == .canonical {
                #expect(state.fetchCursor?.rawValue == ids[59])
            } else {
                #expect(state.fetchCursor == nil)
                #expect(state.walk?.before.rawValue == ids[60])
                #expect(state.walk?.top.rawValue == ids[119])
            }
        }
    }

    @Test(arguments: MockDialect.allCases)
    func pollingPausesAtTheThresholdWhileDeliveryGoesOn(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent {
                $0.outbox.maxUndelivered = 10
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish(count: 7)
            #expect(await agent.cycle().new == 7)
            world.clock.advance(by: .seconds(100))
            world.mock.publish(count: 1)
            #expect(await agent.cycle().new == 1)
            world.mock.forgetRequests()
            #expect(await agent.cycle().skip == .backpressure)
            #expect(world.mock.requestCount(of: .plansChanged) == 0)
            var page = await agent.page()
            #expect(page["starwatch_outbox_backpressure_active"] == 1)
            #expect(page["starred_projects_outbox_backpressure_active"] == 1)
            #expect(page["starwatch_poll_skipped_total", ["poll": World.starred, "reason": "backpressure"]] == 1)
            #expect(page["starwatch_poll_attempts_total", ["poll": World.starred]] == 2)
            #expect(page["starwatch_poll_failure_total", ["poll": World.starred]] == 0)
            #expect(await agent.state().reasons.contains("backpressure"))

            #expect(await agent.runtime.dispatcher.pass().delivered == 8)
            #expect(await agent.cycle().outcome == .unchanged)
            page = await agent.page()
            #expect(page["starwatch_outbox_backpressure_active"] == 0)
        }
    }

    @Test(arguments: MockDialect.allCases, EvictionPolicy.allCases)
    func aSmallerCapEvictsAndWhatWasEvictedComesAgain(dialect: MockDialect, policy: EvictionPolicy) async throws {
        try await World.with(dialect, plans: 60) { world in
            let ids = world.mock.publish(count: 50)
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(await agent.cycle().new == 50)
            world.clock.advance(by: .seconds(600))
            var cycles = 0
            repeat {
                agent = try await world.agent {
                    $0.outbox.maxUndelivered = 20
                    $0.outbox.eviction = policy
                }
                if cycles == 0 {
                    #expect(try await agent.rows([.pending]).count == 18)
                    #expect(try await agent.rows([.evicted]).count == 32)
                    let page = await agent.page()
                    #expect(page["starwatch_outbox_changes_total", ["change": "evicted"]] == 32)
                    #expect(page["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
                }
                _ = try await agent.runPoll(World.starred)
                cycles += 1
            } while try await agent.rows([.pending, .evicted]).count > 0 && cycles < 20
            #expect(cycles < 20)
            try await expectAllAnnouncedOnce(ids, world, agent)
        }
    }

    /// It was news when it was found first; now it has to be delivered, and nobody else says so.
    @Test(arguments: MockDialect.allCases)
    func whatComesAgainIsThereToBeDelivered(dialect: MockDialect) async throws {
        try await World.with(dialect, plans: 60) { world in
            world.mock.publish(count: 20)
            var agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(await agent.cycle().hasStored)
            world.clock.advance(by: .seconds(600))
            agent = try await world.agent { $0.outbox.maxUndelivered = 10 }
            #expect(await agent.runtime.dispatcher.pass().delivered == 9)
            let result = await agent.cycle()
            #expect(result.new == 0 && result.hasStored)
            #expect(try await agent.rows([.pending]).isEmpty == false)
            _ = await agent.runtime.dispatcher.pass()
            _ = await agent.runtime.acknowledger.pass()
            _ = await agent.cycle()
            _ = await agent.runtime.dispatcher.pass()
            #expect(await agent.cycle().hasStored == false)
        }
    }

    @Test(arguments: EvictionPolicy.allCases)
    func aResumedWalkDoesNotGiveUpWhatWasEvictedMeanwhile(policy: EvictionPolicy) async throws {
        try await World.with(.endorser, plans: 120) { world in
            let ids = world.mock.publish(count: 70)
            world.mock.script(.delay(.zero), .status(400), at: .plansChanged)
            var agent = try await world.agent {
                $0.server.dialect = .endorser
                $0.polls[0].bootstrap = .beginning
            }
            #expect(await agent.cycle().new == 50)
            #expect(try await agent.state(of: world.did).walk != nil)
            var cycles = 0
            repeat {
                world.clock.advance(by: .seconds(600))
                agent = try await world.agent {
                    $0.outbox.maxUndelivered = 40
                    $0.outbox.eviction = policy
                }
                if cycles == 0 { #expect(try await agent.rows([.evicted]).count == 14) }
                world.clock.advance(by: .seconds(600))
                _ = try await agent.runPoll(World.starred)
                cycles += 1
            } while try await agent.rows([.acknowledged]).count < 70 && cycles < 20
            try await expectAllAnnouncedOnce(ids, world, agent)
        }
    }

    @Test func exactlyAPageMovesTheCursorInTheSameCycle() async throws {
        try await World.with(.endorser, plans: 60) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 50)
            #expect(await agent.cycle().new == 50)
            let state = try await agent.state(of: world.did)
            #expect(state.fetchCursor?.rawValue == ids.max())
            #expect(state.walk == nil)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func whatThePollLooksBackAtIsNotStoredAgain(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            let commits = ["operation": "commit"]
            let before = await agent.page()["starwatch_store_transaction_seconds_count", commits]
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(900))
                world.mock.forgetRequests()
                #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
                #expect(world.mock.requestCount(of: .plansChanged) == 1)
            }
            #expect(await agent.page()["starwatch_store_transaction_seconds_count", commits] == before)
            // A row that is not known is stored, be it only a tombstone's.
            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
        }
    }

    @Test func twoPollsThatFillTheOutboxTogetherAreBroughtBelowTheCapAgain() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            let agent = try await world.agent {
                $0.outbox.maxUndelivered = 10
                $0.polls[0].bootstrap = .beginning
                var offers = PollOptions(name: PollName("offers")!, kind: .offersToMe)
                offers.bootstrap = .beginning
                $0.polls.append(offers)
                $0.useTokens(in: world.folder)
            }
            world.mock.publish(count: 10)
            world.mock.publishOffers(count: 7, to: world.did.rawValue)
            world.mock.script(.status(500), at: .plansChanged)
            // Both read how much room there is before either stores anything.
            async let first = agent.cycle()
            await world.clock.sleepers(atLeast: 1)
            #expect(await agent.runtime.pollService.pass(agent.runtime.polls[1], runID: "run_offers").new == 7)
            world.clock.advance(by: .seconds(2))
            _ = await first
            world.clock.setMode(.jumping)
            #expect(await agent.cycle().skip == .backpressure)
            #expect(try await agent.rows([.pending, .claimed]).count <= 10)
            for _ in 0..<5 {
                world.clock.advance(by: .seconds(60))
                _ = try await agent.runPoll(World.starred)
                _ = try await agent.runPoll("offers")
            }
            #expect(try await agent.rows([.acknowledged]).count == 17)
            #expect(try world.announced.count == 17)
            #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
        }
    }

    private func expectAllAnnouncedOnce(
        _ ids: [String],
        _ world: World,
        _ agent: Agent,
        isWalkOver: Bool = true
    ) async throws {
        #expect(try await agent.rows([.acknowledged]).sorted() == ids.sorted())
        #expect(try world.notifications.map(\.count).reduce(0, +) == ids.count)
        #expect(Set(try world.announced) == Set(ids))
        let state = try await agent.state(of: world.did)
        #expect(state.watermark?.rawValue == ids.max())
        #expect(state.fetchCursor?.rawValue == ids.max())
        #expect((state.walk == nil) == isWalkOver)
        let page = await agent.page()
        #expect(page["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
        #expect(page["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
    }
}

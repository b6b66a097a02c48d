import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct DialectTests {
    @Test(arguments: MockDialect.allCases, [0, 3])
    func autoFindsTheDialectInTheFirstAnswerAndRemembersIt(dialect: MockDialect, changes: Int) async throws {
        try await World.with(dialect) { world in
            world.mock.publish(count: changes)
            var agent = try await world.agent()
            #expect(agent.runtime.account.gate.known.dialect == nil)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(agent.runtime.account.gate.known.dialect?.rawValue == dialect.rawValue)
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            agent = try await world.agent()
            #expect(agent.runtime.account.gate.known.dialect?.rawValue == dialect.rawValue)
        }
    }

    @Test(arguments: MockDialect.allCases, [0, 3])
    func offersFindTheSameDialect(dialect: MockDialect, offers: Int) async throws {
        try await World.with(dialect) { world in
            world.mock.publishOffers(count: offers, to: world.did.rawValue)
            let ids = world.mock.publish(count: 2)
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].validation = .strict
                var poll = PollOptions(name: PollName("offers")!, kind: .offersToMe)
                poll.bootstrap = .beginning
                poll.validation = .strict
                $0.polls.append(poll)
                $0.useTokens(in: world.folder)
            }
            #expect(try await agent.runPoll("offers").new == offers)
            #expect(agent.runtime.account.gate.known.dialect?.rawValue == (offers == 0 ? nil : dialect.rawValue))
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(agent.runtime.account.gate.known.dialect?.rawValue == dialect.rawValue)
            #expect(try await agent.runPoll("offers").outcome == "unchanged")
            #expect(try world.announced.suffix(2) == ids[...])
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aWrongFixedDialectFailsAndChangesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let ids = world.mock.publish(count: 3)
            let wrong = try await world.agent {
                $0.server.dialect = dialect == .canonical ? .endorser : .canonical
                $0.polls[0].bootstrap = .beginning
            }
            #expect(try await wrong.runPoll(World.starred).outcome == "failed")
            let state = try await wrong.state(of: world.did)
            #expect(!state.bootstrapped)
            #expect(state.fetchCursor == nil)
            #expect(state.walk == nil)
            #expect(state.lastSuccess == nil)
            #expect(try await wrong.rows(Set(OutboxState.allCases)).isEmpty)
            let page = await wrong.page()
            #expect(
                page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "id_kind"]] == 1
            )
            #expect(page["starwatch_poll_failure_total", ["poll": World.starred]] == 1)

            let right = try await world.agent { $0.polls[0].bootstrap = .beginning }
            #expect(try await right.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
        }
    }

    @Test func aServerThatAnswersNoPageTeachesNoDialect() async throws {
        try await World.with(.endorser) { world in
            world.mock.script(.status(200, body: "{\"hello\":1}"), at: .plansChanged)
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(agent.runtime.account.gate.known.dialect == nil)
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
        }
    }

    /// Puts a server of the other dialect, with the same plans, in the place of the world's.
    private func replaceServer(
        of world: World,
        with dialect: MockDialect,
        _ body: (MockServer) async throws -> Void
    ) async throws {
        try await world.mock.stop()
        var options = world.mock.options
        options.port = world.mock.port
        options.dialect = dialect
        let other = MockServer(options: options)
        other.setPlanCatalogue(world.mock.plans)
        try await other.start()
        do {
            try await body(other)
        } catch {
            try await other.stop()
            throw error
        }
        try await other.stop()
    }

    @Test(arguments: MockDialect.allCases)
    func anotherFixedDialectStartsAfresh(former: MockDialect) async throws {
        let dialect: MockDialect = former == .canonical ? .endorser : .canonical
        try await World.with(former) { world async throws in
            var agent = try await world.agent {
                $0.server.dialect = former == .canonical ? .canonical : .endorser
                $0.polls[0].bootstrap = .beginning
            }
            let before = world.mock.publish(count: 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            #expect(try await agent.state(of: world.did).watermark?.rawValue == before.last)
            // Fetched and neither delivered nor acknowledged.
            let waiting = world.mock.publish(count: 1)
            #expect(await agent.cycle().new == 1)
            try await replaceServer(of: world, with: dialect) { server async throws in
                world.clock.advance(by: .seconds(900))
                let after = server.publish(count: 2)
                agent = try await world.agent {
                    $0.server.dialect = dialect == .canonical ? .canonical : .endorser
                    $0.polls[0].bootstrap = .beginning
                }
                var state = try await agent.state(of: world.did)
                #expect(state.fetchCursor == nil && state.watermark == nil && !state.bootstrapped)
                #expect(try await agent.runPoll(World.starred).new == 2)
                _ = try await agent.runPoll(World.starred)
                state = try await agent.state(of: world.did)
                #expect(state.fetchCursor?.rawValue == after.last)
                #expect(state.watermark?.rawValue == after.last)
                // Waiting rows are delivered, but not acknowledged at a server of another dialect.
                #expect(try Set(world.announced) == Set(before + waiting + after))
                #expect(server.acknowledgedIDs == (dialect == .canonical ? after : []))
                #expect(try await agent.rows([.acknowledged]).count == 6)
                #expect(await agent.page()["starwatch_ledger_imbalance_rows", ["law": "new"]] == 0)
                await world.stopAgent()
            }
        }
    }

    /// The dispatcher and the acknowledger need not wait for a poll.
    @Test(arguments: MockDialect.allCases)
    func whatWaitedIsNotToldToAServerOfAnotherDialectBeforeItsFirstPoll(former: MockDialect) async throws {
        let dialect: MockDialect = former == .canonical ? .endorser : .canonical
        try await World.with(former) { world async throws in
            var agent = try await world.agent {
                $0.server.dialect = former == .canonical ? .canonical : .endorser
                $0.polls[0].bootstrap = .beginning
            }
            let waiting = world.mock.publish(count: 2)
            #expect(await agent.cycle().new == 2)
            try await replaceServer(of: world, with: dialect) { server async throws in
                agent = try await world.agent {
                    $0.server.dialect = dialect == .canonical ? .canonical : .endorser
                }
                _ = await agent.runtime.dispatcher.pass()
                _ = await agent.runtime.acknowledger.pass()
                #expect(try world.announced == waiting)
                #expect(server.requestCount(of: .acknowledge) == 0)
                #expect(try await agent.rows([.acknowledged]).count == 2)
                await world.stopAgent()
            }
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aServerThatChangesItsDialectIsFoundOut(former: MockDialect) async throws {
        let dialect: MockDialect = former == .canonical ? .endorser : .canonical
        try await World.with(former) { world async throws in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let before = world.mock.publish(count: 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            try await replaceServer(of: world, with: dialect) { server async throws in
                world.clock.advance(by: .seconds(900))
                let after = server.publish(count: 2)
                // This one finds that something is wrong, the next one what.
                #expect(try await agent.runPoll(World.starred).new == 0)
                #expect(try await agent.runPoll(World.starred).new == 2)
                #expect(agent.runtime.account.gate.known.dialect?.rawValue == dialect.rawValue)
                #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == after.last)
                #expect(try world.announced == before + after)
                await world.stopAgent()
            }
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aDoubtThatWasWrongChangesNothing(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            let before = try await agent.state(of: world.did)
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(300))
                world.mock.script(.status(400), at: .plansChanged)
                #expect(try await agent.runPoll(World.starred).outcome == "failed")
                #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            }
            // One probe in an hour, three refusals, three polls after them, and the first.
            #expect(world.mock.requestCount(of: .plansChanged) == 8)
            let after = try await agent.state(of: world.did)
            #expect(after.fetchCursor == before.fetchCursor)
            #expect(after.watermark == before.watermark)
            #expect(try world.announced == ids)
        }
    }

    @Test func aPollDoesNotBeginWithAnAnswerThatIsNoServers() async throws {
        try await World.with(.canonical) { world in
            world.mock.publish(count: 3)
            let agent = try await world.agent()
            world.mock.script(.status(200, body: #"{"data":[]}"#), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(try world.announced.isEmpty)
        }
    }

    @Test func emptyAnswersThatSayNothingChangeNoDialect() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(300))
                world.mock.script(.schemaViolation(.missingPagination), at: .plansChanged)
                #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            }
            let ids = world.mock.publish(count: 3)
            #expect(try await agent.runPoll(World.starred).new == 3)
            #expect(agent.runtime.account.gate.known.dialect == .canonical)
            #expect(try world.announced == ids)
        }
    }
}

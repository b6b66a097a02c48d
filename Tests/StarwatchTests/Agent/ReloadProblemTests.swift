import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// A reload makes every part anew. A problem outlasts it until the part that has it was tried again.
@Suite struct ReloadProblemTests {
    /// Gives `body` the agent that a reload makes of a running agent.
    ///
    /// - Parameter trouble: Gives the former agent its problem, which has this word.
    private func reload(
        _ word: String,
        configure: (inout AgentOptions, World) throws -> Void = { _, _ in },
        trouble: (Agent, World) async throws -> Void,
        _ body: (Agent, World) async throws -> Void
    ) async throws {
        try await World.with(.endorser) { world in
            var options = world.options
            options.log.level = .notice
            try configure(&options, world)
            let former = try await world.agent { $0 = options }
            former.process.lifecycle.start()
            try await trouble(former, world)
            #expect(await former.look().reasons == [word])
            let next = try await world.agent(after: former) { $0 = options }
            next.process.lifecycle.start()
            #expect(await next.look().reasons == [word], "the reload ended it")
            try await body(next, world)
            #expect(await next.look().reasons == [])
            await world.stopAgent()
            func lines(_ event: String) -> Int { world.log.lines.filter { $0.contains("\"\(event)\"") }.count }
            #expect(lines("problem.began") == 1 && lines("problem.ended") == 1)
        }
    }

    @Test(
        arguments: [
            ("sink_unreachable", .unavailable(SinkFailure("Later.", .program))),
            ("sink_rejecting", .rejected(SinkFailure("No.", .program))),
        ] as [(String, SinkResult)]
    )
    func aSinkKeepsItsProblemUntilItsNextAttempt(word: String, result: SinkResult) async throws {
        try await reload("\(word):file") { agent, world in
            for _ in 1...5 { _ = agent.process.sinks[0].change { $0.record(result, at: world.clock.now) } }
        } _: { agent, world in
            let wait = agent.process.sinks[0].change { $0.admit(at: world.clock.now).waitUntil }
            #expect(wait == nil, "it is tried at once")
            _ = agent.process.sinks[0].change { $0.record(.ok, at: world.clock.now) }
        }
    }

    @Test func anUnreachableServerStaysSoUntilItsNextAnswer() async throws {
        try await reload("server_unreachable") { agent, world in
            world.mock.setStickyFault(.status(500), at: .plansChanged)
            for _ in 1...5 {
                _ = await agent.cycle()
                world.clock.advance(by: .seconds(1))
            }
        } _: { agent, world in
            world.mock.clearFaults()
            world.clock.advance(by: .seconds(900))
            #expect(await agent.cycle().outcome == .bootstrapped)
        }
    }

    @Test func aPollWithoutATokenStaysSoUntilItsNextCycle() async throws {
        let word = "no_token:starred_projects"
        try await reload(word) { options, world in
            try world.folder.write(World.ethrKey, to: "key")
            options.auth.kind = .didKey
            options.auth.keyFile = world.folder.path("key")
        } trouble: { agent, world in
            try world.folder.write("", to: "key")
            _ = await agent.cycle()
            // A configuration without a usable key is refused.
            try world.folder.write(World.ethrKey, to: "key")
        } _: { agent, world in
            world.clock.advance(by: .seconds(900))
            #expect(await agent.cycle().outcome == .bootstrapped)
        }
    }

    @Test func aPollThatIsBehindStaysSoUntilItsNextCycle() async throws {
        try await World.with(.canonical) { world in
            var options = world.options
            options.polls[0].bootstrap = .beginning
            options.outbox.maxUndelivered = 10
            options.outbox.backpressureThreshold = 1
            let former = try await world.agent { $0 = options }
            world.mock.publish(count: 20)
            _ = await former.cycle()
            let backlog = try #require(former.runtime.pollService.track(former.starred).memory.backlog)
            await world.stopAgent()
            let next = try await Agent(
                options: options,
                time: world.clock,
                after: former,
                logSinks: [world.log],
                dependencies: AgentDependencies().patient
            )
            #expect(next.runtime.pollService.track(next.starred).memory.backlog == backlog)
            #expect(await next.state().has(.behind, of: World.starred))
            await world.stopAgent()
        }
    }

    @Test func acknowledgementsFailUntilOneSucceeds() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.deliver(2)
            bench.mock.setStickyFault(.status(403), at: .acknowledge)
            for _ in 1...2 {
                let next = try #require(await bench.acknowledge().next)
                bench.clock.advance(by: next - bench.clock.now)
            }
            #expect(await bench.agent.state().reasons == ["acknowledgements_failing"])
            try await bench.reload()
            #expect(await bench.agent.state().reasons == ["acknowledgements_failing"], "the reload ended it")
            bench.mock.clearFaults()
            #expect(await bench.acknowledge().acknowledged == 2)
            #expect(await bench.agent.state().reasons == [])
        }
    }
}

import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// `clock.source: ntp`, with the whole agent around it.
@Suite(.timeLimit(.minutes(5))) struct ClockSyncTests {
    private func with(
        mockAhead: Duration = .zero,
        _ body: (World, FakeTimeServer, Agent, ClockSyncService) async throws -> Void
    ) async throws {
        try await World.with(.canonical, clock: .waiting, mock: { $0.clockSkew = mockAhead }) { world in
            try await FakeTimeServer.with(world.clock) { server, address in
                let agent = try await world.agent {
                    $0.clock.source = .ntp
                    $0.clock.ntpServer = address
                    $0.log.level = .debug
                }
                try await body(world, server, agent, service(of: agent))
            }
        }
    }

    /// The service of an agent, whose time servers have minutes to answer.
    private func service(of agent: Agent) -> ClockSyncService {
        let timeServers = agent.process.parts.timeServers.map { server in
            var server = server
            server.timeout = longestWait
            return server
        }
        return ClockSyncService(
            account: agent.runtime.account,
            environment: agent.process.environment,
            timeServers: timeServers,
            options: agent.options.clock
        )
    }

    /// Runs the service while `body` lets time pass.
    private func running(_ service: ClockSyncService, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            group.cancelAll()
            try result.get()
        }
    }

    private func samples(_ page: MetricsPage, _ source: String, _ result: String) -> Double? {
        page["starwatch_clock_samples_total", ["source": source, "result": result]]
    }

    @Test(arguments: [-86_400, -3600, 0, 3600, 86_400])
    func onlyTheTimeServerIsUsed(ahead: Int) async throws {
        try await with(mockAhead: .seconds(1_000_000)) { world, server, agent, service in
            server.behave(.answer(ahead: .seconds(ahead)))
            #expect(await service.pass() == .answered)
            _ = try await agent.runPoll(World.starred)
            #expect(
                abs((agent.process.environment.clock.now - world.clock.now).wholeMilliseconds - Int64(ahead) * 1000)
                    <= 5
            )
            let page = await agent.page()
            #expect(samples(page, "ntp", "used") == 1)
            for source in ["date_header", "time_endpoint"] { #expect(samples(page, source, "used") == 0) }
            #expect(abs((page["starwatch_clock_skew_seconds"] ?? .nan) - Double(ahead)) < 0.01)
            #expect((page["starwatch_clock_skew_uncertainty_seconds"] ?? 1) < 0.01)
            #expect(page["starwatch_clock_last_sync_timestamp_seconds"] == world.clock.now.seconds)
            #expect(await agent.state().reasons.contains("clock_skew") == (ahead != 0))
        }
    }

    @Test func queriesNeedNoIdentity() async throws {
        try await with { _, server, agent, service in
            _ = try await agent.setIdentity(nil)
            #expect(await service.pass() == .answered)
            #expect(server.questions == 1)
        }
    }

    @Test func itIsAskedAtTheStartAndThenAtItsInterval() async throws {
        try await with { world, server, _, service in
            try await running(service) {
                await world.clock.sleepers(atLeast: 1)
                #expect(server.questions == 1)
                await world.clock.run(until: ManualClock.start + .seconds(299))
                #expect(server.questions == 1)
                await world.clock.run(until: ManualClock.start + .seconds(3001))
                await world.clock.sleepers(atLeast: 1)
                #expect(server.questions == 11)
            }
        }
    }

    @Test func unsynchronisedServersAreReportedAndRetried() async throws {
        try await with { world, server, agent, service in
            server.behave(.unsynchronised)
            try await running(service) {
                await world.clock.sleepers(atLeast: 1)
                #expect(samples(await agent.page(), "ntp", "unparsable") == 1)
                #expect(world.log.lines.contains { $0.contains("clock.no_answer") })
                #expect(agent.process.environment.clock.estimate == nil)
                server.behave(.answer(ahead: .seconds(100)))
                await world.clock.run(until: ManualClock.start + .seconds(15))
                await world.clock.sleepers(atLeast: 1)
                #expect(server.questions == 2)
                #expect(abs((agent.process.environment.clock.now - world.clock.now).wholeMilliseconds - 100_000) <= 5)
            }
        }
    }

    @Test func theNextServerIsAskedIfOneDoesNotAnswerAndStaysTheFirstOne() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            try await FakeTimeServer.with(world.clock) { first, firstAddress in
                try await FakeTimeServer.with(world.clock) { second, secondAddress in
                    let agent = try await world.agent {
                        $0.clock.source = .ntp
                        $0.clock.ntpServers = [firstAddress, secondAddress]
                    }
                    let service = service(of: agent)
                    #expect(await service.pass() == .answered)
                    #expect(first.questions == 1 && second.questions == 0)

                    first.behave(.unsynchronised)
                    second.behave(.answer(ahead: .seconds(100)))
                    for _ in 0..<2 { #expect(await service.pass() == .answered) }
                    #expect(first.questions == 2 && second.questions == 2)
                    let ahead = agent.process.environment.clock.now - world.clock.now
                    #expect(abs(ahead.wholeMilliseconds - 100_000) <= 5)

                    second.behave(.kiss("DENY"))
                    #expect(await service.pass() == .failed)
                    #expect(await service.pass() == .failed)
                    #expect(first.questions == 4 && second.questions == 3)
                }
            }
        }
    }

    @Test func deniedServersAreNeverQueriedAgain() async throws {
        try await with { world, server, agent, service in
            server.behave(.kiss("DENY"))
            try await running(service) {
                await world.clock.sleepers(atLeast: 1)
                world.clock.setWall(to: world.clock.now + .seconds(7200))
                await world.clock.run(until: world.clock.now + .seconds(86_400))
                await world.clock.sleepers(atLeast: 1)
            }
            #expect(server.questions == 1)
            #expect(samples(await agent.page(), "ntp", "unparsable") == 1)
        }
    }

    @Test func aJumpOfTheLocalClockIsCountedAndTheServerAskedAtOnce() async throws {
        try await with { world, server, agent, service in
            server.behave(.answer(ahead: .seconds(10)))
            try await running(service) {
                await world.clock.sleepers(atLeast: 1)
                let before = agent.process.environment.clock.now
                // The server's clock is derived from the local one here, so it is told to stay where it was.
                world.clock.setWall(to: world.clock.now - .seconds(3600))
                server.behave(.answer(ahead: .seconds(3610)))
                #expect(agent.process.environment.clock.now == before)
                await world.clock.run(until: world.clock.now + .seconds(30))
                await world.clock.sleepers(atLeast: 1)
                #expect(server.questions == 2)
                #expect(abs((agent.process.environment.clock.now - before).wholeMilliseconds - 30_000) <= 30)
                let page = await agent.page()
                #expect(page["starwatch_clock_jumps_total", ["kind": "backward"]] == 1)
                #expect(abs((page["starwatch_clock_skew_seconds"] ?? 0) - 3610) < 0.1)
                // What Prometheus needs to compare the agent's times with its own clock.
                #expect(page["starwatch_clock_local_timestamp_seconds"] == world.clock.now.seconds)
            }
        }
    }

    @Test func aSuspendIsCountedAndTheServerAskedAtOnce() async throws {
        try await with { world, server, agent, service in
            try await running(service) {
                await world.clock.sleepers(atLeast: 1)
                world.clock.suspend(for: .seconds(8 * 3600))
                await world.clock.run(until: world.clock.now + .seconds(30))
                await world.clock.sleepers(atLeast: 1)
                #expect(server.questions == 2)
                let page = await agent.page()
                #expect(page["starwatch_clock_jumps_total", ["kind": "suspend"]] == 1)
                for kind in ["forward", "backward"] {
                    #expect(page["starwatch_clock_jumps_total", ["kind": kind]] == 0)
                }
            }
        }
    }

    @Test(arguments: ["", ":123", "a b", "host:0", "host:99999", "host:x", "http://host", "::1", "[::1"])
    func invalidServerAddressesAreRejected(address: String) async throws {
        try await World.with(.canonical) { world in
            let error = await #expect(throws: AgentError.self) {
                try await world.agent {
                    $0.clock.source = .ntp
                    $0.clock.ntpServers = ["127.0.0.1", address]
                }
            }
            #expect(error?.kind == .configuration)
        }
    }

    @Test(arguments: [
        ("pool.ntp.org", "pool.ntp.org", 123), ("10.0.0.1:1123", "10.0.0.1", 1123), ("[::1]", "::1", 123),
        ("[fe80::1%eth0]:124", "fe80::1%eth0", 124), ("ntp-1.example_x.org:1", "ntp-1.example_x.org", 1),
    ])
    func addressesOfTimeServersAreRead(text: String, host: String, port: Int) throws {
        let address = try #require(ListenAddress(timeServer: text))
        #expect(address.host == host)
        #expect(address.port == port)
    }
}

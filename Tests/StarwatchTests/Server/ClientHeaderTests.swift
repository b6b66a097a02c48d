import MockEndorser
import StarwatchCore
import StarwatchPolling
import Testing

@testable import Starwatch

/// The headers that name this program.
@Suite struct ClientHeaderTests {
    @Test(arguments: [nil, "TimeSafari-DailyNotificationPlugin/1.0.0"])
    func everyRequestNamesTheConfiguredClient(name: String?) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                if let name { ($0.server.userAgent, $0.server.clientVersion) = (name, name + "+2") }
            }
            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).acknowledged == 1)
            var poll = PollRequest<Never, [String: Int]>(endpoint: "/api/v2/time")
            poll.authorization = .anonymous
            _ = await agent.pollManager.execute(poll, context: PollingContext(server: agent.runtime.account.server))
            let requests = world.mock.requests()
            #expect(requests.contains { $0.endpoint == .acknowledge })
            #expect(requests.contains { $0.endpoint == .time })
            for request in requests {
                #expect(request.header("User-Agent") == name ?? "Starwatch/\(AgentVersion.current)")
                #expect(
                    request.header("X-Client-Version")
                        == (name.map { $0 + "+2" } ?? "Starwatch/\(AgentVersion.current)")
                )
            }
            let acknowledgement = requests.first { $0.endpoint == .acknowledge }.map {
                String(decoding: $0.body, as: UTF8.self)
            }
            let version = name.map { $0 + "+2" } ?? "Starwatch/\(AgentVersion.current)"
            #expect(acknowledgement?.contains("\"clientVersion\":\"\(version)\"") == true)
        }
    }
}

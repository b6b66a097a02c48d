import MockEndorser
import StarwatchCore
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
            let requests = world.mock.requests()
            #expect(requests.contains { $0.endpoint == .acknowledge })
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

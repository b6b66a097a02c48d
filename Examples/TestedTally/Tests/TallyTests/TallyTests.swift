import Foundation
import MockEndorser
import Starwatch
import StarwatchCore
import Tally
import Testing

@Suite struct TallyTests {
    private static let poll = PollName("starred_projects")!

    /// An agent that polls the mock server only when it is told to, with its database in a folder of the test.
    private func agent(_ mock: MockServer, _ tally: Tally, in folder: URL) async throws -> Agent {
        var options = AgentOptions()
        options.server.url = mock.url
        options.initialIdentity = DID("did:ethr:0x0000000000000000000000000000000000000001")
        options.storage.path = folder.appending(path: "starwatch.db").path
        options.delivery.groupInterval = .zero
        options.log.level = .critical
        var poll = PollOptions(name: Self.poll, kind: .starredProjects)
        poll.planIDs = mock.planIDs
        poll.bootstrap = .beginning
        options.polls = [poll]
        return try await Agent(options: options, sinks: [tally])
    }

    private func with(_ body: (MockServer, URL) async throws -> Void) async throws {
        let mock = MockServer()
        try await mock.start()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await body(mock, folder)
        try FileManager.default.removeItem(at: folder)
        try await mock.stop()
    }

    @Test func everyChangeIsCountedOnceThoughTheServerFails() async throws {
        try await with { mock, folder in
            let tally = Tally()
            let agent = try await agent(mock, tally, in: folder)
            let published = mock.publish(count: 3)
            mock.script(.status(500), .resetMidBody(afterBytes: 10), at: .plansChanged)
            try await agent.runNow(Self.poll)
            #expect(await tally.changes.values.reduce(0, +) == 3)
            #expect(mock.acknowledgedIDs == published)
            await agent.close()
        }
    }

    @Test func aRestartCountsNothingAgain() async throws {
        try await with { mock, folder in
            let tally = Tally()
            mock.publish(count: 2)
            for _ in 0..<2 {
                let agent = try await agent(mock, tally, in: folder)
                try await agent.runNow(Self.poll)
                await agent.close()
            }
            #expect(await tally.changes.values.reduce(0, +) == 2)
        }
    }

    @Test func aServerThatIsDownCountsNothing() async throws {
        try await with { mock, folder in
            let tally = Tally()
            let agent = try await agent(mock, tally, in: folder)
            mock.publish(count: 1)
            mock.setStickyFault(.status(503), at: .plansChanged)
            #expect(try await agent.runNow(Self.poll) != .changed)
            #expect(await tally.changes.isEmpty)
            await agent.close()
        }
    }
}

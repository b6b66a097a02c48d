import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// A request during which the machine sleeps, or its clock is set, says nothing about the server's clock.
@Suite struct InterruptedRequestTests {
    /// A server whose clock is right, and something that happens while it answers.
    private struct Interrupted: HTTPTransport {
        let clock: ManualClock
        let interruption: @Sendable (ManualClock) -> Void

        func exchange(_ request: HTTPRequest) async -> HTTPExchange {
            let sentAt = ClockReading(wall: clock.now, monotonic: clock.monotonic)
            let truth = clock.now
            interruption(clock)
            let date = HTTPDate.format(max(truth, clock.now))
            return HTTPExchange(
                result: .success(
                    HTTPResponse(
                        status: 200,
                        headers: HTTPHeaders([("Date", date)]),
                        body: Array(#"{"data":[],"hitLimit":false}"#.utf8)
                    )
                ),
                measurements: HTTPMeasurements(
                    sentAt: sentAt,
                    receivedAt: ClockReading(wall: clock.now, monotonic: clock.monotonic)
                )
            )
        }

        func shutdown() {}
    }

    private func estimate(after interruption: @escaping @Sendable (ManualClock) -> Void) async throws -> Duration? {
        let folder = try TestFolder()
        let clock = ManualClock()
        var options = AgentOptions()
        options.server.url = "http://server.test"
        options.server.dialect = .endorser
        options.initialIdentity = World.key
        options.storage.path = folder.path("starwatch.db")
        var poll = PollOptions(name: PollName(World.starred)!, kind: .starredProjects)
        poll.planIDs = ["plan"]
        options.polls = [poll]
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        options.log.level = .critical
        var dependencies = AgentDependencies()
        dependencies.http = Interrupted(clock: clock, interruption: interruption)
        let agent = try await Agent(options: options, time: clock, logSinks: [], dependencies: dependencies)
        let result = await agent.cycle()
        #expect(result.outcome == .bootstrapped)
        let estimate = agent.process.environment.clock.estimate?.offset
        await agent.close()
        return estimate
    }

    @Test func anAnswerAfterASuspendIsNoReading() async throws {
        #expect(try await estimate { $0.suspend(for: .seconds(7200)) } == nil)
    }

    @Test(arguments: [300, -300] as [Int64])
    func anAnswerAfterAStepIsNoReading(seconds: Int64) async throws {
        #expect(try await estimate { $0.setWall(to: $0.now + .seconds(seconds)) } == nil)
    }

    @Test func anAnswerWithoutInterruptionIsOne() async throws {
        #expect(try await estimate { $0.advance(by: .milliseconds(20)) } != nil)
    }
}

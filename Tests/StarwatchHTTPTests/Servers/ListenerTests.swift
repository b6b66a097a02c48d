import Hummingbird
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import StarwatchPolling
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct ListenerTests {
    private static let gone = AgentError.badSocket(path: "socket", detail: "its file is gone")

    private func run(whenBound: @escaping @Sendable () -> Void) async throws {
        let listener = Listener(
            responder: RouteResponder(read: ReadRoutes(agent: FakeAgent())),
            settings: ServerSettings(shutdownGrace: .zero),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await listener.run(
            at: .hostname("127.0.0.1", port: 0),
            named: "socket",
            whenBound: { _ in
                whenBound()
                throw Self.gone
            }
        )
    }

    /// Nobody logs in there, so a client must not get more than one core, nor the threads of deliveries.
    @Test func allAnswersOfTheReadOnlyServerAreMadeOnOneEventLoop() async throws {
        let agent = FakeAgent()
        try await withRunning(HTTPServer(reading: agent, listen: "127.0.0.1:0", logger: quiet)) { address in
            for _ in 0..<4 { _ = try await HTTPProbe(address: address).get("/-/ready") }
        }
        let loops = agent.now.loops
        #expect(loops.count == 4 && Set(loops).count == 1 && loops.allSatisfy { $0 != nil })
    }

    @Test func whatGoesWrongWhenItListensEndsIt() async throws {
        await #expect(throws: AgentError.self) { try await run {} }
    }

    /// So it ends when the time for stopping is over, for example because a sink does not answer.
    @Test func aStopByCancellationLogsNoErrorOfTheLibrary() async throws {
        let recorder = LogRecorder()
        let listener = Listener(
            responder: RouteResponder(read: ReadRoutes(agent: FakeAgent())),
            settings: ServerSettings(shutdownGrace: .zero),
            logger: Logger(label: "test", factory: { _ in recorder })
        )
        let listening = Promise<Void>()
        let run = Task {
            try await listener.run(
                at: .hostname("127.0.0.1", port: 0),
                named: "socket",
                whenBound: { _ in
                    listening.fulfil(())
                    return "socket"
                }
            )
        }
        _ = await listening.value()
        run.cancel()
        try await run.value
        #expect(recorder.lines.all.isEmpty)
    }

    /// Its socket is closed then, and what there was to do with its file cannot be done.
    @Test(.timeLimit(.minutes(5))) func aStopInTheMomentWhenItListensIsNoError() async throws {
        try await testGracefulShutdown { trigger in
            try await run { trigger.triggerGracefulShutdown() }
        }
    }
}

/// Keeps the lines that a logger writes at warning and above.
private struct LogRecorder: LogHandler {
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    let lines = Lines()
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.level) \(event.message)") }
}

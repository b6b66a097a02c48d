import Hummingbird
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct ListenerTests {
    private static let gone = HTTPServerError.badSocket(path: "socket", detail: "its file is gone")

    private func run(whenBound: @escaping @Sendable () -> Void) async throws {
        let listener = Listener(
            responder: RouteResponder(read: ReadRoutes(agent: FakeAgent())),
            shutdownGrace: .zero,
            limits: ConnectionLimits(),
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

    @Test func whatGoesWrongWhenItListensEndsIt() async throws {
        await #expect(throws: HTTPServerError.self) { try await run {} }
    }

    /// Its socket is closed then, and what there was to do with its file cannot be done.
    @Test func aStopInTheMomentWhenItListensIsNoError() async throws {
        try await testGracefulShutdown { trigger in
            try await run { trigger.triggerGracefulShutdown() }
        }
    }
}

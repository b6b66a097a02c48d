import Logging
import StarwatchCore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// The settings `ca_file` and `pinned_public_key` of the server and of sinks.
@Suite struct ServerTransportTests {
    /// A transport that keeps the URLs of its requests.
    private final class Recorder: HTTPTransport {
        private let requests = Mutex<[String]>([])
        private let ended = Mutex(false)

        var urls: [String] { requests.withLock { $0 } }
        var isShutDown: Bool { ended.withLock { $0 } }

        func exchange(_ request: HTTPRequest) async -> HTTPExchange {
            requests.withLock { $0.append(request.url) }
            let never = ClockReading(wall: ManualClock.start, monotonic: .zero)
            return HTTPExchange(
                result: .failure(.connect),
                measurements: HTTPMeasurements(sentAt: never, receivedAt: never)
            )
        }

        func shutdown() { ended.withLock { $0 = true } }
    }

    @Test func onlyTheServersRequestsUseItsTrust() async throws {
        let (server, others) = (Recorder(), Recorder())
        let url = try #require(ServerURL("https://Endorser.example:443/prefix"))
        let transport = ServerTransport(to: url, server, others: others)
        let own = [
            "https://endorser.example/prefix/api", "https://ENDORSER.example:443/hook", "https://endorser.example",
        ]
        let foreign = [
            "https://endorser.example:8443/", "http://endorser.example/", "https://endorser.example.evil.test/",
            "https://hook.example/?https://endorser.example/",
        ]
        for url in own + foreign { _ = await transport.exchange(HTTPRequest(url: url)) }
        #expect(server.urls == own)
        #expect(others.urls == foreign)
        transport.shutdown()
        #expect(server.isShutDown && others.isShutDown)
    }

    @Test(arguments: [
        SinkOptions.Kind.webhook(url: "https://127.0.0.1:9/", secretFile: nil, timeout: .seconds(1)),
        .ntfy(url: "https://127.0.0.1:9", topic: "t", tokenFile: nil),
    ])
    func aSinkHasTrustAnchorsOfItsOwn(kind: SinkOptions.Kind) async throws {
        let folder = try TestFolder()
        var options = AgentOptions()
        options.delivery.sinks = [SinkOptions(name: "hook", kind: kind)]
        try await Agent.check(options)
        options.delivery.sinks[0]["ca_file"] = .text(try folder.write("no certificate", to: "ca.pem"))
        let error = await #expect(throws: AgentError.self) { try await Agent.check(options) }
        #expect(error?.message.hasPrefix("delivery.sinks.hook.ca_file contains no PEM certificate") == true)
        let failure = await Reach.of(options.delivery.sinks[0]).failure
        #expect(failure?.sentence.contains("delivery.sinks.hook.ca_file") == true)
    }

    @Test func aProgramCanWrapTheTransportOfItsAgent() async throws {
        let recorder = Recorder()
        var dependencies = AgentDependencies()
        dependencies.network = { made in
            made.shutdown()
            return recorder
        }
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let parts = try AgentParts(AgentOptions(), time: ManualClock(), dependencies: dependencies, logger: logger)
        _ = await parts.http.exchange(HTTPRequest(url: "https://endorser.example/"))
        parts.http.shutdown()
        #expect(recorder.urls == ["https://endorser.example/"] && recorder.isShutDown)
    }
}

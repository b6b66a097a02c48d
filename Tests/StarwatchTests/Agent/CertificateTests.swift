import Logging
import MockEndorser
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// The expiry of certificates, where an operator sees it.
@Suite struct CertificateTests {
    /// A transport whose connections are new, and show a certificate.
    private struct Certified: HTTPTransport {
        let base: any HTTPTransport
        let expiry: Timestamp

        var executor: (any TaskExecutor)? { base.executor }

        func exchange(_ request: HTTPRequest) async -> HTTPExchange {
            let exchange = await base.exchange(request)
            return HTTPExchange(
                result: exchange.result,
                measurements: exchange.measurements,
                status: exchange.status,
                certificateExpiry: expiry
            )
        }

        func shutdown() { base.shutdown() }
    }

    private static let name = "starwatch_certificate_expiry_timestamp_seconds"
    private static let day = Duration.seconds(86_400)

    /// The certificates of the server and of the sink expire in three days.
    private func dependencies(expiry: Timestamp) -> AgentDependencies {
        var dependencies = AgentDependencies()
        dependencies.network = { Certified(base: $0, expiry: expiry) }
        return dependencies
    }

    private func hook(_ world: World) -> SinkOptions {
        SinkOptions(name: "hook", kind: .webhook(url: world.mock.url + "/hook", secretFile: nil, timeout: .seconds(10)))
    }

    @Test func theServersAndASinksCertificatesAreToldBeforeAndAfterTheirExpiry() async throws {
        try await World.with(.endorser) { world in
            let expiry = world.clock.now + Self.day * 3 + .seconds(1800)
            let agent = try await world.agent(dependencies: dependencies(expiry: expiry)) { options in
                options.polls[0].bootstrap = .beginning
                options.clock.source = .system
                options.delivery.sinks = [hook(world)]
            }
            #expect(await agent.state().certificates == [:])
            #expect(await agent.page().values.keys.allSatisfy { $0.name != Self.name })
            world.mock.publish(count: 1)
            _ = try await agent.runPoll(World.starred)
            _ = await agent.runtime.dispatcher.pass()
            let status = await agent.state()
            #expect(status.certificates == ["server": expiry.iso8601, "hook": expiry.iso8601])
            #expect(status.reasons == ["certificate_renewal_due:hook", "certificate_renewal_due:server"])
            #expect(status.headline == "The certificate of sink hook expires in 3 d; 1 more problem")
            for of in ["server", "hook"] { #expect(await agent.page()[Self.name, ["of": of]] == expiry.seconds) }
            world.clock.advance(by: Self.day + .seconds(3600))
            #expect(await agent.state().reasons.first == "certificate_expiring:hook")
            world.clock.advance(by: Self.day * 2)
            let over = await agent.state().problems?.first { $0.problem == "certificate_expired" }
            #expect(over?.severity == "critical" && over?.title == "The certificate of the server has expired")
        }
    }

    /// Each account's receiver has a certificate of its own.
    @Test(arguments: [("https://hook.example", true), ("", false)])
    func onlyASinkOfTheConfigurationHasACertificate(url: String, isWatched: Bool) throws {
        var options = AgentOptions()
        options.accounts = .many
        options.security.masterKeyFile = "/key"
        options.delivery.sinks = [
            SinkOptions(name: "hook", kind: .webhook(url: url, secretFile: nil, timeout: .seconds(10)))
        ]
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let parts = try AgentParts(options, time: ManualClock(), dependencies: AgentDependencies(), logger: logger)
        defer { parts.http.shutdown() }
        let sink = try #require(parts.sinks[0] as? RequestSink)
        #expect((sink.http is WatchedTransport) == isWatched)
    }

    @Test func aPortsCertificateFollowsItsFile() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent { $0.clock.source = .system }
            let soon = world.clock.now + Self.day
            agent.topics.noteWebConfiguration(.loaded(certificateExpiry: soon), at: .http)
            #expect(await agent.state().reasons == ["certificate_expiring:port:http"])
            #expect(await agent.page()[Self.name, ["of": "port:http"]] == soon.seconds)
            agent.topics.noteWebConfiguration(.reloaded(certificateExpiry: soon + Self.day * 90), at: .http)
            #expect(await agent.state().reasons == [])
            agent.topics.noteWebConfiguration(.loaded(certificateExpiry: nil), at: .http)
            #expect(await agent.state().certificates == [:])
        }
    }

    /// After an expiry no new connection shows a certificate, so that a reload would forget it.
    @Test func aReloadKeepsWhatIsKnownOfWhatStays() async throws {
        try await World.with(.endorser) { world in
            var options = world.options
            options.clock.source = .system
            let former = try await world.agent(dependencies: dependencies(expiry: world.clock.now)) { $0 = options }
            _ = try await former.runPoll(World.starred)
            #expect(await former.state().reasons == ["certificate_expired:server"])
            for isOtherServer in [false, true] {
                if isOtherServer { options.server.url += "/other" }
                let next = try await world.agent(after: former) { $0 = options }
                #expect(await next.state().reasons == (isOtherServer ? [] : ["certificate_expired:server"]))
            }
        }
    }

    /// A clock that is behind sees the expiry where the server's clock has it.
    @Test func theExpiryIsComparedWithTheServersClock() async throws {
        try await World.with(.endorser, mock: { $0.clockSkew = .seconds(3600) }) { world in
            let agent = try await world.agent(dependencies: dependencies(expiry: world.clock.now + .seconds(1800)))
            _ = try await agent.runPoll(World.starred)
            #expect(await agent.state().reasons.contains("certificate_expired:server"))
        }
    }
}

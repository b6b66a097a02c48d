import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct TokenTests {
    private static let secret = "a secret of thirty-two bytes ok!"

    private func withSecret(
        skew: Duration = .zero,
        _ body: (World, _ secretFile: String) async throws -> Void
    ) async throws {
        try await World.with(
            .canonical,
            mock: {
                $0.auth = .sharedSecret(Array(Self.secret.utf8))
                $0.clockSkew = skew
            }
        ) { world in
            try await body(world, try world.folder.write(Self.secret + "\n", to: "secret"))
        }
    }

    private func withKey(_ body: (World, _ keyFile: String) async throws -> Void) async throws {
        try await World.with(.endorser, mock: { $0.auth = .didKey }) { world in
            try await body(world, try world.folder.write(World.ethrKey, to: "key"))
        }
    }

    private func use(_ kind: AuthOptions.Kind, _ file: String) -> (inout AgentOptions) -> Void {
        { options in
            options.auth.kind = kind
            if kind == .didKey { options.auth.keyFile = file } else { options.auth.secretFile = file }
        }
    }

    private func tokens(_ world: World) -> [String] {
        world.mock.requests(to: .plansChanged).compactMap { request in
            request.header("Authorization").map { String($0.dropFirst("Bearer ".count)) }
        }
    }

    private func claims(_ token: String) throws -> [String: Any] {
        var text = String(token.split(separator: ".")[1])
        text = text.replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func theCanonicalServerTakesASharedSecretsToken() async throws {
        try await withSecret { world, file in
            let agent = try await world.agent(use(.sharedSecret, file))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let token = try #require(tokens(world).first)
            let found = try claims(token)
            #expect(found["iss"] as? String == World.key.rawValue)
            #expect(found["aud"] as? String == "endorser-api")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).acknowledged == 2)
            #expect(world.mock.acknowledgedIDs == ids)
        }
    }

    @Test func theEndorserServerTakesTheKeysToken() async throws {
        try await withKey { world, file in
            let agent = try await world.agent(use(.didKey, file))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            let token = try #require(tokens(world).first)
            let found = try claims(token)
            #expect(Set(found.keys) == ["iss", "iat", "exp"])
            #expect(found["iss"] as? String == World.ethr.rawValue)
            #expect(found["iat"] as? Int64 == ManualClock.start.wholeSeconds)
            #expect(found["exp"] as? Int64 == ManualClock.start.wholeSeconds + 60)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aRefusedTokenIsReplacedOnce(dialect: MockDialect) async throws {
        func check(_ world: World, _ agent: Agent) async throws {
            world.mock.script(.authenticationFailure, at: .plansChanged)
            // A new token of the same second would be the same text.
            world.clock.advance(by: .seconds(1))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(tokens(world).count == 2)
            #expect(world.clock.slept.isEmpty)
            let page = await agent.page()
            let labels = ["endpoint": "plans_changed", "reason": "unauthenticated"]
            #expect(page["starwatch_retries_total", labels] == 1)
            #expect(page["starwatch_retries_exhausted_total", labels] == 0)
            #expect(page["starwatch_poll_success_total", ["poll": World.starred]] == 1)
        }
        if dialect == .canonical {
            try await withSecret { world, file in
                try await check(world, try await world.agent(use(.sharedSecret, file)))
                #expect(Set(tokens(world)).count == 2)
            }
        } else {
            try await withKey { world, file in
                try await check(world, try await world.agent(use(.didKey, file)))
            }
        }
    }

    @Test func aSecondRefusalStopsAndTheNextCycleIsThirtySecondsAway() async throws {
        try await withSecret { world, file in
            let agent = try await world.agent(use(.sharedSecret, file))
            world.mock.setStickyFault(.authenticationFailure, at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "failed")
            #expect(report.reason != nil)
            #expect(world.mock.requestCount(of: .plansChanged) == 2)
            let page = await agent.page()
            let labels = ["endpoint": "plans_changed", "reason": "unauthenticated"]
            #expect(page["starwatch_retries_exhausted_total", labels] == 1)
            #expect(page["starwatch_poll_failure_total", ["poll": World.starred]] == 1)
            #expect(page["starwatch_circuit_state", ["target": "server"]] == 0)

            world.mock.clearFaults()
            world.clock.advance(by: .milliseconds(29_999))
            #expect(try await agent.runPoll(World.starred).outcome == "skipped")
            #expect(world.mock.requestCount(of: .plansChanged) == 2)
            world.clock.advance(by: .milliseconds(1))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
        }
    }

    @Test func aTokenThatWasRefusedIsNotSentAgainInTheNextCycle() async throws {
        try await World.with(.canonical) { world in
            let file = try world.folder.write("one\ntwo\nthree\n", to: "tokens")
            let agent = try await world.agent {
                $0.auth.kind = .tokenPool
                $0.auth.tokensFile = file
            }
            world.mock.setStickyFault(.authenticationFailure, at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            world.mock.clearFaults()
            world.clock.advance(by: .seconds(30))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            #expect(tokens(world).count == 3)
            #expect(Set(tokens(world)).count == 3)
        }
    }

    @Test(arguments: [true, false])
    func aSecretThatIsGoneOrUnreadableLaterSkips(isGone: Bool) async throws {
        try await withSecret { world, file in
            let agent = try await world.agent(use(.sharedSecret, file))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.mock.forgetRequests()
            if isGone {
                try FileManager.default.removeItem(atPath: file)
            } else {
                // A new one that anybody may read is refused.
                try world.folder.write("another secret of thirty-two byt", to: "secret")
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            }
            world.clock.advance(by: .seconds(4000))
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "skipped")
            #expect(report.reason == "no_token")
            #expect(world.mock.requests().isEmpty)
            let page = await agent.page()
            #expect(page["starwatch_poll_skipped_total", ["poll": World.starred, "reason": "no_token"]] == 1)
            #expect((page["starwatch_token_refreshes_total", ["result": "failed"]] ?? 0) >= 1)

            try? FileManager.default.removeItem(atPath: file)
            try world.folder.write(Self.secret, to: "secret")
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
        }
    }

    @Test func makingATokenIsCountedAndItsExpiryShown() async throws {
        try await withSecret { world, file in
            let agent = try await world.agent(use(.sharedSecret, file))
            _ = try await agent.runPoll(World.starred)
            let page = await agent.page()
            #expect(page["starwatch_token_expiry_timestamp_seconds"] == ManualClock.start.seconds + 3600)
            #expect((page["starwatch_token_refreshes_total", ["result": "ok"]] ?? 0) >= 1)
        }
    }

    /// The headers are those of a proxy with a wrong clock, and the server checks tokens by its own.
    @Test(arguments: MockDialect.allCases, [-7200, 600])
    func tokensFollowTheClockByWhichTheServerTakesThem(dialect: MockDialect, seconds: Int) async throws {
        try await World.with(
            dialect,
            mock: {
                $0.auth = dialect == .endorser ? .didKey : .sharedSecret(Array(Self.secret.utf8))
                $0.headerSkew = .seconds(seconds)
            }
        ) { world in
            let content = dialect == .endorser ? World.ethrKey : Self.secret + "\n"
            let file = try world.folder.write(content, to: "secret")
            let agent = try await world.agent { options in
                use(dialect == .endorser ? .didKey : .sharedSecret, file)(&options)
                options.log.level = .warning
            }
            for poll in 0..<4 {
                let outcome = try await agent.runPoll(World.starred).outcome
                #expect(outcome == (poll == 0 ? "bootstrapped" : "unchanged"), "poll \(poll)")
                // Past the end of a token's life.
                world.clock.advance(by: .seconds(4000))
            }
            #expect(world.log.lines.contains { $0.contains("clock.tokens") })
            let refused = await agent.page()[
                "starwatch_api_requests_total",
                ["endpoint": "plans_changed", "result": "unauthenticated"]
            ]
            #expect(refused ?? 0 <= 2)
        }
    }

    @Test(arguments: [-600, 600])
    func tokensUseTheServersTime(skew: Int) async throws {
        try await withSecret(skew: .seconds(skew)) { world, file in
            let agent = try await world.agent(use(.sharedSecret, file))
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(4000))
            #expect(try await agent.runPoll(World.starred).outcome == "unchanged")
            let token = try #require(tokens(world).last)
            let issued = try #require(try claims(token)["iat"] as? Int64)
            #expect(abs(issued - (world.clock.now.wholeSeconds + Int64(skew))) <= 1)
            let page = await agent.page()
            #expect(abs((page["starwatch_clock_skew_seconds"] ?? 0) - Double(skew)) < 1)
            #expect(await agent.state().reasons.contains("clock_skew"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aTokenCommandThatHangsIsEndedAndTheCycleSkipped() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.server.dialect = .canonical
                $0.auth.kind = .command
                $0.auth.argv = ["sleep", "600"]
            }
            #expect(await agent.cycle().skip == .noToken)
            #expect(world.mock.requestCount(of: .plansChanged) == 0)
        }
    }

    @Test func theKeyOfAnotherIdentityIsRefusedAtStart() async throws {
        try await withKey { world, file in
            await #expect(throws: AgentError.self) {
                try await world.agent {
                    use(.didKey, file)(&$0)
                    $0.initialIdentity = World.other
                }
            }
        }
    }

    @Test func aSecretThatIsMissingAtStartIsAConfigurationError() async throws {
        try await World.with(.canonical) { world in
            let error = await #expect(throws: AgentError.self) {
                try await world.agent(use(.sharedSecret, world.folder.path("nowhere")))
            }
            #expect(error?.kind == .configuration)
        }
    }
}

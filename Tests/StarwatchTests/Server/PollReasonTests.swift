import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// Reasons of failed polls, where an operator sees them.
@Suite struct PollReasonTests {
    private static let forbidden = MockFault.status(
        403,
        body: #"""
            {"error":"forbidden","message":"Insufficient permissions of did:ethr:0xABC",
            "details":{"requiredScope":"notifications:read","userScope":"notifications:write"},"requestId":"req_1"}
            """#
    )

    private func status(_ agent: Agent) async throws -> AgentStatus.Poll {
        try #require(await agent.state().polls[World.starred])
    }

    private func count(_ agent: Agent, _ reason: FailureLabel) async -> Double? {
        await agent.page()[
            "starwatch_poll_failure_reasons_total",
            ["poll": World.starred, "reason": reason.rawValue]
        ]
    }

    @Test func aForbiddenPollNeedsActionAndNamesTheScope() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.log.level = .debug }
            world.mock.setStickyFault(Self.forbidden, at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "failed")
            #expect(report.reason?.contains("the scope notifications:read") == true)
            let status = try await status(agent)
            #expect(status.needsAction)
            #expect(status.lastReason == "http_403 error=forbidden scope=notifications:read")
            #expect(status.lastError == report.reason)
            #expect(await count(agent, .http403) == 1)
            for event in ["api.failure", "poll.failed"] {
                let line = try #require(world.log.lines.first { $0.contains("\"event\":\"\(event)\"") })
                #expect(line.contains("\"reason\":\"http_403\""))
                #expect(line.contains("\"server_error\":\"error=forbidden scope=notifications:read\""))
                #expect(!line.contains("0xABC") && !line.contains("Insufficient"))
            }

            world.mock.clearFaults()
            _ = try await agent.runPoll(World.starred)
            let recovered = try await self.status(agent)
            #expect(!recovered.needsAction && recovered.lastReason == nil && recovered.lastError == nil)
        }
    }

    @Test func theReasonOutlivesTheAgent() async throws {
        try await World.with(.canonical) { world in
            var agent = try await world.agent()
            world.mock.setStickyFault(Self.forbidden, at: .plansChanged)
            _ = try await agent.runPoll(World.starred)
            agent = try await world.agent()
            #expect(try await status(agent).needsAction)
        }
    }

    @Test func aForbiddenPollFollowsItsScheduleAndNothingElse() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await world.agent { $0.polls[0].timing = .every(.seconds(900)) }
            world.mock.setStickyFault(Self.forbidden, at: .plansChanged)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(polls: Turns()) }
                await world.clock.sleepers(atLeast: 1)
                await world.clock.run(until: ManualClock.start + .milliseconds(899_999))
                #expect(world.mock.requestCount(of: .plansChanged) == 1)
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                #expect(world.mock.requestCount(of: .plansChanged) == 2)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test func aRejectedFieldIsNamedAndNothingElseOfTheAnswer() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.log.level = .debug }
            let body = #"""
                {"error":"invalid_request","message":"Invalid planIds: Alice's Garden",
                "details":{"field":"planIds","expected":"string[]","received":"Alice"},"requestId":"req_abc123"}
                """#
            world.mock.script(.status(400, body: body), at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.reason?.contains("the field planIds") == true)
            #expect(try await status(agent).lastReason == "http_400 error=invalid_request field=planIds")
            #expect(try await status(agent).needsAction == false)
            #expect(await count(agent, .http400) == 1)
            #expect(!world.log.lines.contains { $0.contains("Alice") })
        }
    }

    @Test func aSharedSecretAtAServerThatWantsKeysSaysWhatToConfigure() async throws {
        try await World.with(.endorser, mock: { $0.auth = .didKey }) { world in
            let file = try world.folder.write("a secret of thirty-two bytes ok!\n", to: "secret")
            let agent = try await world.agent {
                $0.server.dialect = .endorser
                $0.auth.kind = .sharedSecret
                $0.auth.secretFile = file
            }
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "failed")
            #expect(report.reason?.contains("HS256") == true)
            #expect(report.reason?.contains("set auth.kind to did_key") == true)
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            let status = try await status(agent)
            #expect(status.needsAction)
            #expect(status.lastReason == "http_400 error=JWT_VERIFY_FAILED token=algorithm")
            #expect(status.lastError == report.reason)
        }
    }

    @Test func everyKindOfFailureHasItsReason() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            let faults: [(MockFault, String, FailureLabel)] = [
                (.status(502), "http_502", .http5xx), (.resetBeforeHead, "reset", .reset),
                (.schemaViolation(.missingJWTID), "contract", .contract), (.malformedJSON, "not_json", .malformed),
                (.status(302), "http_302", .http3xx), (.status(200, body: "\n<!DOCTYPE html>"), "html", .html),
                (.status(404), "http_404", .http404),
                (.authenticationFailure, "http_401 error=unauthorized", .http401),
            ]
            world.mock.publish(count: 1)
            for (fault, reason, label) in faults {
                world.mock.setStickyFault(fault, at: .plansChanged)
                #expect(try await agent.runPoll(World.starred).outcome == "failed")
                #expect(try await status(agent).lastReason == reason)
                #expect(await count(agent, label) == 1)
                world.clock.advance(by: .seconds(900))
            }
            world.mock.clearFaults()
            world.mock.script(.rateLimited(retryAfter: .seconds(7200)), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "deferred")
            #expect(try await status(agent).lastReason?.hasPrefix("http_429") == true)
            #expect(await count(agent, .http429) == 0)
        }
    }

    @Test func aMissingTokenSaysWhyAndIsRetriedAfterOneTwoFourToThirtySeconds() async throws {
        let secret = "a secret of thirty-two bytes ok!"
        try await World.with(.canonical, clock: .waiting, mock: { $0.auth = .sharedSecret(Array(secret.utf8)) }) {
            world in
            let file = try world.folder.write(secret + "\n", to: "secret")
            let agent = try await world.agent {
                $0.auth.kind = .sharedSecret
                $0.auth.secretFile = file
                $0.polls[0].timing = .every(.seconds(900))
            }
            try FileManager.default.removeItem(atPath: file)
            let skipped = { () async -> Double? in
                await agent.page()["starwatch_poll_skipped_total", ["poll": World.starred, "reason": "no_token"]]
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(polls: Turns()) }
                await world.clock.sleepers(atLeast: 1)
                #expect(await skipped() == 1)
                let status = try await status(agent)
                #expect(status.lastReason == "token_file" && status.needsAction)
                for (index, seconds) in [1, 3, 7, 15, 31, 61, 91].enumerated() {
                    let due = ManualClock.start + .seconds(seconds)
                    await world.clock.run(until: due - .milliseconds(1))
                    #expect(await skipped() == Double(index + 1))
                    await world.clock.run(until: due)
                    await world.clock.sleepers(atLeast: 1)
                    #expect(await skipped() == Double(index + 2))
                }
                #expect(world.mock.requestCount(of: .plansChanged) == 0)
                // The new token goes out with the next retry, not with the next scheduled run.
                try world.folder.write(secret, to: "secret")
                await world.clock.run(until: ManualClock.start + .seconds(121))
                await world.clock.sleepers(atLeast: 1)
                #expect(world.mock.requestCount(of: .plansChanged) > 0)
                #expect(try await self.status(agent).lastReason == nil)
                // The next failure starts the backoff again.
                try FileManager.default.removeItem(atPath: file)
                await world.clock.run(until: ManualClock.start + .seconds(900))
                await world.clock.sleepers(atLeast: 1)
                let before = await skipped() ?? 0
                await world.clock.run(until: ManualClock.start + .seconds(901))
                await world.clock.sleepers(atLeast: 1)
                #expect(await skipped() == before + 1)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}

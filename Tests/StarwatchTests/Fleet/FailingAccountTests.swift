import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// What an operator sees of accounts that fail among others.
@Suite(.timeLimit(.minutes(5))) struct FailingAccountTests {
    private static let first = TestAccount.ethr
    private static let second = TestAccount.other

    private static func with(
        hasKeys: Bool = true,
        _ change: @escaping (inout AgentOptions) -> Void = { _ in },
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany { options in
                options.auth.kind = .sharedSecret
                change(&options)
            }
            let plans = world.mock.planIDs
            _ = try await agent.perform(
                ControlAPI.addAccounts,
                AccountAdditions(accounts: [
                    .init(did: first.rawValue, stars: [plans[0]]), .init(did: second.rawValue, stars: [plans[1]]),
                ])
            )
            if hasKeys { try await importKeys(agent) }
            await agent.visitAll(after: .seconds(60), on: world.clock)
            try await body(world, agent)
        }
    }

    private static func importKeys(_ agent: Agent) async throws {
        for (did, kid) in [(first, "first"), (second, "second")] {
            var caller = Operator.program
            caller.account = did
            let key = SigningKeyImport(content: Array("a secret of thirty-two bytes ok!".utf8), kid: kid)
            _ = try await agent.topics.perform(ControlAPI.importSigningKey, key, for: caller)
        }
    }

    private static func listing(_ agent: Agent, failing: Bool = true) async throws -> [AccountReport] {
        var query = AccountQuery()
        query.failing = failing
        return try await agent.perform(ControlAPI.listAccounts, query).accounts
    }

    private static func metric(_ reason: String, of agent: Agent) async -> Double? {
        let page = MetricsPage(await agent.topics.metrics(MetricsQuery()).body)
        return page["starwatch_fleet_failing_accounts", ["reason": reason]]
    }

    @Test func aSharedSecretInAFileSignsTheTokensOfAllAccounts() async throws {
        let folder = try TestFolder()
        let file = try folder.write("a secret of thirty-two bytes ok!", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try await Self.with(hasKeys: false) {
            $0.auth.secretFile = file
        } _: { world, agent in
            for _ in 0..<3 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            let failing = try await Self.listing(agent)
            #expect(failing.isEmpty)
        }
    }

    /// The gauges are set for each page, from what the status shows.
    @Test func theLastCycleOfAnyAccountIsKnownWithoutTheMetrics() async throws {
        try await Self.with { world, agent in
            agent.process.environment.metrics.polls.show(CycleTimes(), of: agent.starred.label)
            let poll = try #require(await agent.state().polls[World.starred])
            let success = try #require(poll.lastSuccess.flatMap { Timestamp(iso8601: $0) })
            #expect(poll.lastAttempt.flatMap { Timestamp(iso8601: $0) }.map { $0 <= success } == true)
            let labels = ["poll": World.starred]
            #expect(await agent.page()["starwatch_poll_last_success_timestamp_seconds", labels] == success.seconds)
        }
    }

    @Test func aRefusedTokenIsAProblemWithItsReasonAndEndsWithASuccess() async throws {
        try await Self.with { world, agent in
            #expect(try await Self.listing(agent).isEmpty)
            #expect(await Self.metric("http_401", of: agent) == 0)
            world.mock.setStickyFault(.status(401), at: .plansChanged)
            for _ in 0..<3 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            let failing = try await Self.listing(agent)
            #expect(Set(failing.map(\.did)) == [Self.first.rawValue, Self.second.rawValue])
            let failure = try #require(failing.first?.failure)
            #expect(failure.reason?.hasPrefix("http_401") == true && failure.poll == "starred_projects")
            #expect(failure.problem == "The server rejected the token (401); check auth.")
            #expect(failure.failures >= 2)
            let (since, next) = (try #require(Timestamp(iso8601: failure.since)), try #require(failure.nextTry))
            #expect(since < world.clock.now - .seconds(60))
            #expect(try #require(Timestamp(iso8601: next)) > since)
            // The reason is also at the account.
            let removal = IdentityRemoval(did: failing[0].did)
            #expect(try await agent.perform(ControlAPI.showAccount, removal).failure == failure)
            #expect(try await Self.listing(agent, failing: false).allSatisfy { $0.failure != nil })

            let status = try await agent.perform(ControlAPI.status)
            #expect(status.reasons.contains("accounts_failing"))
            #expect(status.problems?.first { $0.problem == "accounts_failing" }?.title == "2 accounts fail: HTTP 401")
            #expect(status.accounts?.failing == 2)
            #expect(status.accounts?.worst?.map(\.account) == failing.map(\.pseudonym))
            #expect(!StableJSON.text(of: status).contains(Self.first.rawValue))
            #expect(await Self.metric("http_401", of: agent) == 2)

            world.mock.clearFaults()
            for _ in 0..<2 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            #expect(try await Self.listing(agent).isEmpty)
            #expect(try await agent.perform(ControlAPI.showAccount, removal).failure == nil)
            #expect(try await !agent.perform(ControlAPI.status).reasons.contains("accounts_failing"))
            #expect(await Self.metric("http_401", of: agent) == 0)
        }
    }

    @Test func thePagesOfFailingAccountsContinueWhereTheLastOneEnded() async throws {
        try await Self.with { world, agent in
            world.mock.setStickyFault(.status(401), at: .plansChanged)
            for _ in 0..<3 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            let all = try await Self.listing(agent).map(\.did)
            var query = AccountQuery()
            (query.failing, query.limit) = (true, 1)
            #expect(try await agent.perform(ControlAPI.listAccounts, query).accounts.map(\.did) == [all[0]])
            query.after = all[0]
            #expect(try await agent.perform(ControlAPI.listAccounts, query).accounts.map(\.did) == [all[1]])
            query.after = all[1]
            #expect(try await agent.perform(ControlAPI.listAccounts, query).accounts.isEmpty)
        }
    }

    /// Neither a pause nor a removed star is a failure.
    @Test func anAccountThatIsNotPolledAnyMoreDoesNotFail() async throws {
        try await Self.with { world, agent in
            world.mock.setStickyFault(.status(401), at: .plansChanged)
            for _ in 0..<3 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            _ = try await agent.perform(ControlAPI.pauseAccount, IdentityRemoval(did: Self.first.rawValue))
            let without = AccountAdditions(accounts: [.init(did: Self.second.rawValue, stars: [])])
            _ = try await agent.perform(ControlAPI.addAccounts, without)
            #expect(try await Self.listing(agent).isEmpty)
        }
    }

    /// Of a cycle without a token nothing else is stored, and the account's runtime is gone after the visit.
    @Test func anAccountWithoutATokenFails() async throws {
        try await Self.with(hasKeys: false) { options in
            var offers = PollOptions(name: PollName("offers")!, kind: .offersToMe)
            offers.timing = .every(.seconds(60))
            options.polls = [offers]
        } _: { world, agent in
            let failing = try await Self.listing(agent)
            #expect(failing.count == 2)
            #expect(failing.allSatisfy { $0.failure?.reason == "no_token" && $0.failure?.poll == "offers" })
            #expect(await Self.metric("no_token", of: agent) == 2)
            // Retries between two runs of the schedule are not stored.
            let count = failing.first?.failure?.failures
            await agent.visitAll(after: .seconds(31), on: world.clock)
            #expect(try await Self.listing(agent).first?.failure?.failures == count)
            try await Self.importKeys(agent)
            for _ in 0..<2 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            #expect(try await Self.listing(agent).isEmpty)
        }
    }

    @Test func anAddressThatRejectsEverythingSaysSoAndItsDeadLettersNameTheAccount() async throws {
        try await AddressBench.with { bench in
            try await bench.addBoth()
            bench.receivers[0].setStickyFault(.status(404), at: .hook)
            _ = await bench.publish(visits: 6)
            let report = try await bench.report(Self.first)
            #expect(report.sinks == ["my_hook": "rejecting"])
            #expect(report.sinkReasons == ["my_hook": "http_404"])
            let other = try await bench.report(Self.second)
            #expect(other.sinks == ["my_hook": "set"] && other.sinkReasons == nil)
            var query = OutboxQuery()
            query.state = "dead"
            let dead = try await bench.agent.perform(ControlAPI.listOutbox, query).entries
            #expect(!dead.isEmpty && dead.allSatisfy { $0.account == report.pseudonym })
            #expect(try await bench.agent.perform(ControlAPI.showOutboxRow, dead[0].id).account == report.pseudonym)
            let lines = bench.world.log.lines.filter { $0.contains("sink.rejected") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(report.pseudonym) })
            // A new address is not judged by the former one.
            bench.world.clock.advance(by: .seconds(1))
            try await bench.add(Self.first, plan: 0, at: bench.address(1))
            try #expect(await bench.report(Self.first).sinks == ["my_hook": "set"])
        }
    }
}
